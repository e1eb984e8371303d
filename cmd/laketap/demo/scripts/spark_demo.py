"""Spark in the demo. Usage: spark_demo.py run JAR_DIR"""

import glob
import os

import protocol
from pyspark.sql import SparkSession


def session(jar_dir):
    jars = ",".join(sorted(glob.glob(os.path.join(jar_dir, "*.jar"))))
    if not jars:
        protocol.fail(f"no Iceberg jars for Spark in {jar_dir}")
    return (
        SparkSession.builder.master("local[2]")
        .appName("laketap-demo")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", os.path.join(os.getcwd(), "spark-warehouse"))
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.lk", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lk.type", "rest")
        .config("spark.sql.catalog.lk.uri", protocol.catalog_uri())
        .getOrCreate()
    )


def main(mode, jar_dir):
    spark = session(jar_dir)
    spark.sparkContext.setLogLevel("ERROR")
    protocol.begin("spark", spark.version)
    spark.sql(f"USE lk.{protocol.NAMESPACE}")
    for q in protocol.questions():
        protocol.answer(q, lambda: spark.sql(" ".join(q["sql"])).collect())
    spark.stop()


protocol.run(main)
