"""Runs steps in Spark. Its only configuration is CATALOG_URI."""

import glob
import os

from pyspark.sql import SparkSession
from steps import CATALOG, select, serve


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
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "rest",
        f"{catalog}.uri": uri,
        # Others write between the steps, and Spark would not look for 30 s.
        f"{catalog}.cache-enabled": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("laketap-test")
    for key, setting in settings.items():
        builder = builder.config(key, setting)
    return builder.getOrCreate()


def main():
    spark = session(os.environ["CATALOG_URI"], os.environ["SPARK_JARS"])
    spark.sparkContext.setLogLevel("ERROR")

    def run(text):
        frame = spark.sql(text)
        return frame.toArrow() if frame.columns else None

    serve(run, lambda read: run(select(read, "`", "version as of {}")))
    spark.stop()


main()
