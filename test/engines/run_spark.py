"""Runs steps in Spark. Its only configuration is CATALOG_URI, or what `laketap connect spark` printed."""

import glob
import os
import shlex

from pyspark.sql import SparkSession
from steps import CATALOG, printed, select, serve


def session(uri, jars):
    catalog = f"spark.sql.catalog.{CATALOG}"
    settings = {
        "spark.jars": ",".join(sorted(glob.glob(f"{jars}/*.jar"))),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    lake = by_uri(catalog, uri) if printed() is None else as_printed(jars)
    builder = SparkSession.builder.master("local[2]").appName("laketap-test")
    for key, setting in (settings | lake).items():
        builder = builder.config(key, setting)
    return builder.getOrCreate()


def by_uri(catalog, uri):
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "rest",
        f"{catalog}.uri": uri,
        # Others write between the steps, and Spark would not look for 30 s.
        f"{catalog}.cache-enabled": "false",
    }


def as_printed(jars):
    """Reads the settings of the printed command. Its packages must be what lies in jars."""
    words = shlex.split(printed().replace("\\\n", " "), comments=True)
    assert words.pop(0) == "spark-sql" and len(words) % 2 == 0, words
    settings = {}
    for option, word in zip(words[::2], words[1::2]):
        if option == "--packages":
            for package in word.split(","):
                _, artifact, version = package.split(":")
                assert os.path.exists(f"{jars}/{artifact}-{version}.jar"), f"{package} is not in {jars}"
        else:
            assert option == "--conf", option
            key, _, setting = word.partition("=")
            settings[key] = setting
    return settings


def main():
    spark = session(os.environ.get("CATALOG_URI"), os.environ["SPARK_JARS"])
    spark.sparkContext.setLogLevel("ERROR")

    def run(text):
        frame = spark.sql(text)
        return frame.toArrow() if frame.columns else None

    serve(run, lambda read: run(select(read, "`", "version as of {}")))
    spark.stop()


main()
