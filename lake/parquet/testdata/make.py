#!/usr/bin/env python3
"""Writes the small Parquet files beside it, each with the options of one writer
that matter to a footer. Run it with the engines' interpreter (see
test/engines/setup); engines that are not installed are passed over:

    make.py [DIR [WRITER ...]]

Trino and Daft write Parquet into tables only: their files come from make.py of
lake/iceberg, with PARQUET set to the folder of this one.

Bytes differ between versions of the writers; the tests ask for no bytes.
"""
import base64
import datetime as dt
import decimal
import glob
import os
import shutil
import sys
import tempfile

DIR = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
ONLY = sys.argv[2:]
ROWS = 60
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]


def path(name):
    return os.path.join(DIR, name + ".parquet")


def flat():
    import pyarrow as pa

    n = range(ROWS)
    return pa.table({
        "i32": pa.array([i * 7 % 13 - 6 for i in n], pa.int32()),
        "u64": pa.array([(1 << 63) + i for i in n], pa.uint64()),
        "f64": pa.array([float("nan") if i % 9 == 0 else i / 4 for i in n]),
        "s": pa.array([None if i % 5 == 0 else "value %d" % (i % 4) for i in n]),
        "d": pa.array([dt.date(2026, 1, 1) + dt.timedelta(days=i) for i in n]),
        "ts": pa.array([dt.datetime(2026, 1, 1, 0, i) for i in n], pa.timestamp("us", tz="UTC")),
        "dec": pa.array([decimal.Decimal(i) / 100 for i in n], pa.decimal128(20, 2)),
        "b": pa.array([i % 3 == 0 for i in n]),
        "fix": pa.array([bytes([i]) * 16 for i in n], pa.binary(16)),
    })


def nested():
    import pyarrow as pa

    point = pa.struct([("x", pa.float32()), ("y", pa.float32())])
    tags = pa.map_(pa.string(), pa.list_(point))
    n = range(ROWS)
    return pa.table({
        "id": pa.array(list(n), pa.int64()),
        "p": pa.array([None if i % 7 == 0 else {"x": i, "y": -i} for i in n], point),
        "l": pa.array([[None] * (i % 3) for i in n], pa.list_(pa.int16())),
        "m": pa.array([[("k%d" % j, [{"x": j, "y": i}]) for j in range(i % 3)] for i in n], tags),
        "ll": pa.array([[["a"] * (i % 2)] * (i % 4) for i in n], pa.list_(pa.list_(pa.string()))),
    })


def pyarrow():
    import pyarrow as pa
    import pyarrow.parquet as pq

    t = flat()
    for codec in CODECS:
        pq.write_table(t.select(["i32", "s"]), path("pyarrow_" + codec), compression=codec)
    pq.write_table(t, path("pyarrow_index"), row_group_size=25, write_page_index=True, data_page_size=128)
    pq.write_table(t, path("pyarrow_v2"), data_page_version="2.0", version="2.4", use_dictionary=["s"], data_page_size=64)
    pq.write_table(t, path("pyarrow_plain"), use_dictionary=False, write_statistics=False, store_schema=False)
    pq.write_table(t, path("pyarrow_v1"), version="1.0", compression="none", coerce_timestamps="ms", allow_truncated_timestamps=True)
    pq.write_table(nested(), path("pyarrow_nested"), row_group_size=20, write_page_index=True)
    pq.write_table(nested(), path("pyarrow_nested_old"), use_compliant_nested_type=False)
    pq.write_table(t.slice(0, 0), path("pyarrow_empty"))
    pq.write_table(pa.table({"n": pa.nulls(10), "s": pa.array([""] * 10)}), path("pyarrow_nulls"))
    pq.write_table(t.select(["i32", "f64"]), path("pyarrow_split"), use_dictionary=False, column_encoding={"f64": "BYTE_STREAM_SPLIT", "i32": "DELTA_BINARY_PACKED"})
    ids = pa.schema([pa.field(f.name, f.type, f.nullable, {"PARQUET:field_id": str(100 + k)}) for k, f in enumerate(t.schema)])
    pq.write_table(t.cast(ids), path("pyarrow_ids"), row_group_size=30, sorting_columns=[pq.SortingColumn(0)])
    try:
        pq.write_table(t.select(["s", "i32"]), path("pyarrow_bloom"), row_group_size=30, bloom_filter_options={"s": {"ndv": 4, "fpp": 0.1}, "i32": True})
    except TypeError:
        print("pyarrow: no Bloom filters in this version")
    pyarrow_summary(t)
    pyarrow_encrypted(t)


def pyarrow_summary(t):
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as work:
        seen = []
        pq.write_to_dataset(t, work, partition_cols=["b"], metadata_collector=seen)
        pq.write_metadata(t.drop(["b"]).schema, path("pyarrow_summary"), metadata_collector=seen)


def pyarrow_encrypted(t):
    import pyarrow.parquet as pq
    import pyarrow.parquet.encryption as pe

    class Kms(pe.KmsClient):
        """Wraps nothing: these files only have to look encrypted."""

        def wrap_key(self, key, master):
            return base64.b64encode(master.encode() + b":" + key)

        def unwrap_key(self, wrapped, master):
            return base64.b64decode(wrapped)[len(master) + 1:]

    factory = pe.CryptoFactory(lambda config: Kms())
    kms = pe.KmsConnectionConfig()
    kinds = {
        "footer": dict(plaintext_footer=False),
        "ctr": dict(plaintext_footer=False, encryption_algorithm="AES_GCM_CTR_V1"),
        "columns": dict(plaintext_footer=True),
    }
    for name, more in kinds.items():
        config = pe.EncryptionConfiguration(footer_key="f", column_keys={"k": ["s"]}, data_key_length_bits=128, **more)
        properties = factory.file_encryption_properties(kms, config)
        with pq.ParquetWriter(path("pyarrow_encrypted_" + name), t.select(["i32", "s"]).schema, encryption_properties=properties) as w:
            w.write_table(t.select(["i32", "s"]))


def duckdb():
    import duckdb as db

    con = db.connect()
    con.register("flat", flat())
    con.register("nested", nested())
    copy = "copy (from %s) to '%s' (format parquet, %s)"
    con.execute(copy % ("flat", path("duckdb_flat"), "codec snappy"))
    con.execute(copy % ("nested", path("duckdb_nested"), "codec zstd"))
    con.execute(copy % ("flat", path("duckdb_v2"), "parquet_version v2, row_group_size 2048"))
    con.execute(copy % ("(select i32, s from flat)", path("duckdb_ids"), "field_ids {i32: 7, s: 9}"))
    con.execute("create table t as select i // 10 as k, 'v' || (i % 50) as s from range(6000) r(i)")
    con.execute(copy % ("t", path("duckdb_groups"), "row_group_size 2048, codec gzip"))


def polars():
    import polars as pl

    t = pl.from_arrow(flat().drop(["fix"]))
    t.write_parquet(path("polars_zstd"), compression="zstd", row_group_size=20)
    t.write_parquet(path("polars_plain"), compression="uncompressed", statistics="full")
    pl.from_arrow(nested().drop(["m"])).write_parquet(path("polars_nested"), compression="lz4")


def datafusion():
    import datafusion as df

    ctx = df.SessionContext()
    frame = ctx.from_arrow(flat())
    options = df.ParquetWriterOptions(compression="zstd(3)", bloom_filter_on_write=True, bloom_filter_ndv=8, max_row_group_size=25, data_page_row_count_limit=10)
    with tempfile.TemporaryDirectory() as work:
        frame.write_parquet_with_options(work, options)
        shutil.copy(sorted(glob.glob(work + "/*.parquet"))[0], path("datafusion_bloom"))


def clickhouse():
    import chdb

    columns = "toInt32(number) as i, concat('v', toString(number % 5)) as s, [number, 1] as a, map('k', number) as m"
    for name, more in {"native": "", "bloom": ", output_format_parquet_write_bloom_filter=1, output_format_parquet_row_group_size=30"}.items():
        with open(path("clickhouse_" + name), "wb") as f:
            sql = "select %s from numbers(60) settings output_format_parquet_compression_method='zstd'%s format Parquet"
            f.write(chdb.query(sql % (columns, more), "Parquet").bytes())


def spark():
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    t = session.range(60).selectExpr("id", "cast(id % 5 as string) as s", "array(id, null) as a", "map('k', struct(id as x)) as m", "cast(id as decimal(9,2)) as dec")
    kinds = {
        "flat": {},
        "bloom": {"parquet.enable.dictionary#s": "false", "parquet.bloom.filter.enabled#s": "true", "parquet.bloom.filter.expected.ndv#s": "8"},
        "v2": {"parquet.writer.version": "PARQUET_2_0", "compression": "gzip"},
        "legacy": {"compression": "none", "parquet.enable.dictionary": "false"},
    }
    for name, options in kinds.items():
        session.conf.set("spark.sql.parquet.writeLegacyFormat", str(name == "legacy").lower())
        with tempfile.TemporaryDirectory() as work:
            t.coalesce(1).write.mode("overwrite").options(**options).parquet(work + "/t")
            shutil.copy(glob.glob(work + "/t/part-*.parquet")[0], path("spark_" + name))
    session.stop()


for writer in [pyarrow, duckdb, polars, datafusion, clickhouse, spark]:
    if ONLY and writer.__name__ not in ONLY:
        continue
    try:
        writer()
    except ImportError as missing:
        print("passed over:", missing)
