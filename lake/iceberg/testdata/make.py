#!/usr/bin/env python3
"""Makes the sample tables beside it: on a local lake, by the engines, each with
what one writer does that matters to metadata. Run it with the engines'
interpreter (see test/engines/setup); engines that are not installed are passed
over:

    LAKE=bin/laketap-lake SPARK_JARS=… TRINO=… JAVA=… make.py [DIR [WRITER ...]]

Kept are the metadata files, manifest lists and manifests of a table, in a folder
of its name; engines.jsonl in it is what Spark reads from them, which the tests
hold against what we read. Names and bytes differ from run to run; the tests ask
for neither.

With PARQUET=DIR, files of Trino's and Daft's tables go there, for the samples of
lake/parquet: engines that write Parquet only into tables.
"""
import datetime as dt
import decimal
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from make_daft import daft
from make_java import java
from make_trino import trino

DIR = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
ONLY = sys.argv[2:]
NS = "samples"


def start(work):
    """Starts a lake, and returns its process and what it says of itself."""
    lake = subprocess.Popen([os.environ["LAKE"], work + "/lake"], stdout=sys.stderr)
    for _ in range(300):
        if os.path.exists(work + "/lake/lake.json"):
            return lake, json.load(open(work + "/lake/lake.json"))
        time.sleep(0.1)
    raise RuntimeError("the lake did not open")


def spark_session(uri):
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": ",".join(sorted(glob.glob(os.environ["SPARK_JARS"] + "/*.jar"))),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lk": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lk.type": "rest",
        "spark.sql.catalog.lk.uri": uri,
        "spark.sql.catalog.lk.cache-enabled": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("samples")
    for key, setting in settings.items():
        builder = builder.config(key, setting)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


# What Spark does: a table, then the statements; {t} is the table.
SPARK = {
    "spark_transforms": [
        """create table {t} (zero int, id bigint, region string, ok boolean, d date, d2 date, ts timestamp, ts2 timestamp,
           ntz timestamp_ntz, name string, n int, price decimal(9,2), raw binary, l bigint) using iceberg
           partitioned by (region, ok, bucket(4, id), bucket(3, price), truncate(3, name), truncate(10, n),
           years(d), months(d2), days(ts), hours(ts2), bucket(2, ntz), truncate(50, price), bucket(2, raw))""",
        """insert into {t} values
           (0, 1, 'north', true, date'2026-01-02', date'1969-12-30', timestamp'2026-01-02 03:04:05', timestamp'1960-01-02 03:04:05',
            timestamp_ntz'2026-01-02 03:04:05', 'alphabet', 17, 12.34, x'0102', 1),
           (0, 2, null, null, null, null, null, null, null, null, null, null, null, null),
           (0, -3, 'süd/ost =', false, date'0001-01-01', date'9999-12-31', timestamp'1969-12-31 23:59:59', timestamp'2038-01-19 03:14:08',
            timestamp_ntz'1969-12-31 23:59:59', 'ßß€😀x', -7, -0.01, x'', -9223372036854775808)""",
        "call lk.system.compute_partition_stats('{n}')",
    ],
    "spark_evolved": [  # version 1 to 3, specs and schemas
        """create table {t} (id int, kind string, p struct<x: float, y: float>, tags map<string, array<int>>) using iceberg
           partitioned by (kind) tblproperties ('format-version'='1')""",
        "insert into {t} values (1, 'a', named_struct('x', 1f, 'y', 2f), map('k', array(1, 2))), (2, 'b', null, null)",
        "alter table {t} add partition field bucket(4, id)",
        "insert into {t} values (3, 'a', null, map()), (4, null, null, null)",
        "alter table {t} drop partition field kind",
        "alter table {t} add column added timestamp",
        "alter table {t} rename column kind to sort",
        "alter table {t} alter column id type bigint",
        "alter table {t} add column p.z double",
        "insert into {t} values (5, 'c', null, null, timestamp'2026-01-01 00:00:00')",
        "alter table {t} set tblproperties ('format-version'='2')",
        "alter table {t} add partition field days(added) as day",
        "insert into {t} values (6, 'd', null, null, timestamp'2026-02-01 00:00:00')",
        "alter table {t} drop column p.x",
        "alter table {t} write ordered by id desc nulls last, sort",
        "call lk.system.rewrite_manifests(table => '{n}', use_caching => false)",
        "delete from {t} where id = 1",
        "alter table {t} replace partition field day with months(added)",
        "alter table {t} set tblproperties ('format-version'='3')",
        "insert into {t} values (7, 'e', null, null, timestamp'2026-03-01 00:00:00')",
        "call lk.system.rewrite_data_files(table => '{n}', options => map('min-input-files', '2'))",
        "insert into {t} values (8, 'f', null, null, null)",
    ],
    "spark_deletes": [  # position deletes, and manifests that are merged
        """create table {t} (id bigint, v string) using iceberg tblproperties ('format-version'='2',
           'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read',
           'commit.manifest.min-count-to-merge'='3', 'write.metadata.compression-codec'='gzip',
           'write.metadata.metrics.default'='full')""",
        "insert into {t} select id, concat('v', id) from range(0, 100)",
        "delete from {t} where id % 10 = 3",
        "update {t} set v = 'w' where id = 5",
        "merge into {t} using (select 7L id) s on {t}.id = s.id when matched then delete",
        "insert into {t} values (1000, 'x')",
        "insert into {t} values (1001, 'y')",
        "delete from {t} where id >= 1000",
        "call lk.system.rewrite_position_delete_files(table => '{n}', options => map('rewrite-all', 'true'))",
        "insert overwrite {t} values (1, 'only')",
    ],
    "spark_vectors": [  # deletion vectors, several in one Puffin file
        """create table {t} (v string, id bigint) using iceberg partitioned by (truncate(100, id)) tblproperties ('format-version'='3',
           'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read')""",
        "insert into {t} select concat('v', id), id from range(0, 400)",
        "delete from {t} where id % 10 = 3",
        "delete from {t} where id % 10 = 4 and id < 200",
        "update {t} set v = 'w' where id = 5",
        "alter table {t} add column n int",
        "insert into {t} values ('x', 1000, 1)",
        "delete from {t} where id < 100",
    ],
    "spark_branches": [
        "create table {t} (id bigint, v string) using iceberg tblproperties ('format-version'='2')",
        "insert into {t} values (1, 'a')",
        "alter table {t} create branch side retain 7 days with snapshot retention 2 snapshots 3 days",
        "insert into {t}.branch_side values (2, 'b')",
        "alter table {t} create tag one retain 30 days",
        "insert into {t} values (3, 'c')",
        "insert into {t}.branch_side values (4, 'd')",
        "call lk.system.fast_forward('{n}', 'side', 'side')",
        "call lk.system.compute_table_stats('{n}')",
        "delete from {t} where id = 1",
        "call lk.system.rollback_to_timestamp('{n}', current_timestamp())",
    ],
    "spark_v3": [  # types, defaults, other codec and locations
        """create table {t} (id bigint not null comment 'the key', var variant, l array<struct<a: int, b: map<string, date>>>,
           ts timestamp, n decimal(38, 10)) using iceberg tblproperties ('format-version'='3',
           'write.avro.compression-codec'='zstd', 'write.manifest.compression-codec'='zstd',
           'write.data.path'='s3://lake/elsewhere/data/', 'schema.name-mapping.default'='[{{"field-id": 1, "names": ["id", "key"]}},
           {{"field-id": 3, "names": ["l"], "fields": [{{"field-id": 6, "names": ["element"], "fields": [{{"field-id": 7, "names": ["a"]}}]}}]}}]')""",
        "alter table {t} set identifier fields id",
        "insert into {t} select 1, parse_json('{{\"a\": 1}}'), array(named_struct('a', 1, 'b', map())), null, 1.5",
        "insert into {t} (id) values (2)",
    ],
    "spark_empty": ["create table {t} (id bigint) using iceberg tblproperties ('format-version'='1')"],
}


def spark(uri):
    session = spark_session(uri)
    session.sql(f"create namespace if not exists lk.{NS}")
    for table, statements in SPARK.items():
        for statement in statements:
            try:
                session.sql(statement.format(t=f"lk.{NS}.{table}", n=f"{NS}.{table}"))
            except Exception as error:
                print(f"{table}: {statement[:60]}: {str(error)[:300]}", file=sys.stderr)


def pyiceberg(uri):
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import BucketTransform, DayTransform, HourTransform, IdentityTransform, TruncateTransform
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, FixedType, IntegerType, LongType,
                                 NestedField, StringType, TimestampType, TimestamptzType, TimeType)

    catalog = load_catalog("lk", type="rest", uri=uri)
    catalog.create_namespace_if_not_exists(NS)
    types = [LongType(), BooleanType(), IntegerType(), DateType(), TimeType(), TimestampType(), TimestamptzType(),
             StringType(), FixedType(4), BinaryType(), DecimalType(9, 2)]
    types += [LongType(), StringType(), TimestampType(), TimestamptzType()]
    schema = Schema(*[NestedField(i + 1, f"c{i + 1}", t, required=False) for i, t in enumerate(types)])
    transforms = [IdentityTransform()] * 11 + [BucketTransform(8), TruncateTransform(2), DayTransform(), HourTransform()]
    fields = [PartitionField(i + 1, 1000 + i, t, f"p{i + 1}") for i, t in enumerate(transforms)]
    rows = [
        [1, True, -5, dt.date(1969, 1, 1), dt.time(1, 2, 3), dt.datetime(1969, 12, 31, 23), dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc),
         "añb", b"abcd", b"\x00\xff", decimal.Decimal("-1.25"),
         -7, "ßxy", dt.datetime(1969, 12, 31, 23), dt.datetime(2026, 1, 1, 5, tzinfo=dt.timezone.utc)],
        [None] * len(types),
    ]
    for version in ["1", "2"]:
        name = f"pyiceberg_v{version}"
        table = catalog.create_table(f"{NS}.{name}", schema, partition_spec=PartitionSpec(*fields), properties={"format-version": version})
        arrow = table.schema().as_arrow()
        for row in rows:
            try:
                columns = [pa.array([v], f.type) for v, f in zip(row, arrow)]
                table.append(pa.table(columns, schema=arrow))
            except Exception as error:
                print(f"{name}: {str(error)[:300]}", file=sys.stderr)
        try:
            table.delete("c1 = 1")
            with table.update_spec() as update:
                update.remove_field("p1")
            with table.update_schema() as update:
                update.rename_column("c3", "three")
                update.add_column("more", StringType())
            table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "mark").commit()
        except Exception as error:
            print(f"{name}: {str(error)[:300]}", file=sys.stderr)


def duckdb(uri):
    import duckdb as db

    con = db.connect()
    for extension in ["httpfs", "avro", "iceberg"]:
        try:
            con.execute(f"load {extension}")
        except Exception:
            import duckdb_extensions  # noqa: F401  the wheels bring them along
            import importlib
            module = importlib.import_module("duckdb_extension_" + extension)
            found = glob.glob(os.path.dirname(module.__file__) + "/**/*.duckdb_extension", recursive=True)
            con.execute(f"load '{found[0]}'")
    con.execute(f"attach '' as lk (type iceberg, endpoint '{uri}', authorization_type 'none')")
    con.execute(f"create schema if not exists lk.{NS}")
    for version in [2, 3]:
        t = f"lk.{NS}.duckdb_v{version}"
        for statement in [
            f"create table {t} (id bigint, s varchar, d date, n decimal(9,2)) with ('format-version'={version})",
            f"insert into {t} select i, 'v' || i, date '2026-01-01' + i::int, i / 4 from range(50) r(i)",
            f"insert into {t} values (100, null, null, null)",
            f"delete from {t} where id % 7 = 1",
            f"update {t} set s = 'w' where id = 2",
            f"alter table {t} add column more integer",
            f"insert into {t} values (101, 'x', null, null, 5)",
        ]:
            try:
                con.execute(statement)
            except Exception as error:
                print(f"{t}: {statement[:60]}: {str(error)[:300]}", file=sys.stderr)


def clickhouse(uri):
    import pyarrow as pa
    from chdb import session
    from pyiceberg.catalog import load_catalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DateType, LongType, NestedField, StringType

    catalog = load_catalog("lk", type="rest", uri=uri)
    catalog.create_namespace_if_not_exists(NS)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "s", StringType()), NestedField(3, "d", DateType()))
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "s"))
    table = catalog.create_table(f"{NS}.clickhouse_v2", schema, partition_spec=spec, properties={"format-version": "2"})
    # Its first commit to an empty table leaves out a member that the lake asks for.
    table.append(pa.table([[0], ["z"], pa.array([None], pa.date32())], schema=table.schema().as_arrow()))
    t = f"lk.`{NS}.clickhouse_v2`"
    con = session.Session()
    for statement in [
        "set allow_database_iceberg=1",
        "set allow_insert_into_iceberg=1",
        f"create database lk engine = DataLakeCatalog('{uri}/v1') settings catalog_type='rest', warehouse='lake'",
        f"insert into {t} values (1, 'a', '2026-01-01'), (2, 'b', '1969-12-31'), (3, null, null)",
        f"insert into {t} values (4, 'a', '2026-02-01')",
        f"alter table {t} delete where id = 2",
    ]:
        try:
            con.query(statement)
        except Exception as error:
            print(f"{t}: {statement[:60]}: {str(error)[:300]}", file=sys.stderr)


ENTRIES = """select status, snapshot_id, sequence_number, file_sequence_number, data_file.content, data_file.file_path,
    data_file.file_format, data_file.record_count, data_file.file_size_in_bytes, data_file.sort_order_id,
    to_json(data_file.column_sizes) sizes, to_json(data_file.value_counts) counts, to_json(data_file.null_value_counts) nulls,
    to_json(transform_values(data_file.lower_bounds, (k, v) -> hex(v))) lower, data_file.spec_id,
    data_file.split_offsets {extra}
    from lk.{t}.entries {at}"""


def keep(uri, work):
    """Copies what the tables' metadata consists of, with what Spark reads from it."""
    def ask(path):
        return json.load(urllib.request.urlopen(f"{uri}/v1/namespaces/{NS}/tables{path}"))

    session = spark_session(uri)
    for table in ask("")["identifiers"]:
        name = table["name"]
        loaded = ask("/" + name)
        folder = os.path.join(DIR, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for file in glob.glob(f"{work}/lake/**/{NS}/{name}-*/metadata/*", recursive=True):
            if os.path.isfile(file) and file.endswith((".avro", ".json")):
                shutil.copy(file, folder)
        current = os.path.basename(loaded["metadata-location"])
        for file in glob.glob(folder + "/*.json"):  # older metadata says nothing that the last does not
            if os.path.basename(file) != current:
                os.remove(file)
        with open(folder + "/engines.jsonl", "w") as out:
            for id in [s["snapshot-id"] for s in loaded["metadata"].get("snapshots", [])]:
                for extra in [", data_file.first_row_id, data_file.referenced_data_file, data_file.content_offset, data_file.content_size_in_bytes",
                              ", data_file.referenced_data_file, data_file.content_offset, data_file.content_size_in_bytes", ""]:
                    try:
                        at = f"version as of {id}"
                        for row in session.sql(ENTRIES.format(t=f"{NS}.{name}", at=at, extra=extra)).toJSON().collect():
                            print(json.dumps({"snapshot": id, "entry": json.loads(row)}), file=out)
                        break
                    except Exception as error:
                        print(f"{name}: {str(error)[:300]}", file=sys.stderr)
                else:
                    for entry in pyiceberg_entries(uri, name, id):
                        print(json.dumps({"snapshot": id, "entry": entry}), file=out)


def keep_files(work, out):
    """Copies the largest file of some tables; of Trino's small rows, that is one
    of position deletes, which hold whole paths."""
    for name, table in [("trino_deletes", "trino_evolved"), ("trino_transforms", "trino_transforms"), ("daft_v2", "daft_v2")]:
        files = glob.glob(f"{work}/lake/**/{NS}/{table}-*/data/**/*.parquet", recursive=True)
        files = sorted((f for f in files if os.path.isfile(f)), key=os.path.getsize)
        if files:
            shutil.copy(files[-1], os.path.join(out, name + ".parquet"))


def pyiceberg_entries(uri, name, id):
    """Reads entries with PyIceberg, of tables that Spark cannot read."""
    from pyiceberg.catalog import load_catalog

    table = load_catalog("lk", type="rest", uri=uri).load_table((NS, name))
    for manifest in table.snapshot_by_id(id).manifests(table.io):
        for e in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
            f = e.data_file
            entry = {"status": int(e.status), "snapshot_id": e.snapshot_id, "sequence_number": e.sequence_number,
                     "file_sequence_number": e.file_sequence_number, "content": int(f.content), "file_path": f.file_path,
                     "file_format": f.file_format.name, "record_count": f.record_count, "file_size_in_bytes": f.file_size_in_bytes,
                     "sizes": json.dumps(dict(f.column_sizes or {})), "counts": json.dumps(dict(f.value_counts or {})),
                     "nulls": json.dumps(dict(f.null_value_counts or {})), "spec_id": manifest.partition_spec_id,
                     "lower": json.dumps({k: v.hex().upper() for k, v in (f.lower_bounds or {}).items()}),
                     "split_offsets": f.split_offsets}
            yield entry


WRITERS = {
    "pyiceberg": lambda info: pyiceberg(info["catalog"]),
    "daft": lambda info: daft(info["catalog"], NS),
    "duckdb": lambda info: duckdb(info["catalog"]),
    "clickhouse": lambda info: clickhouse(info["catalog"]),
    "trino": lambda info: trino(info, NS),
    "spark": lambda info: spark(info["catalog"]),
    "java": lambda info: java(spark_session(info["catalog"]), NS),
}


def main():
    work = tempfile.mkdtemp()
    lake, info = start(work)
    try:
        for name, write in WRITERS.items():
            if ONLY and name not in ONLY:
                continue
            try:
                write(info)
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)
        keep(info["catalog"], work)
        if os.environ.get("PARQUET"):
            keep_files(work, os.environ["PARQUET"])
    finally:
        lake.send_signal(signal.SIGTERM)
        lake.wait()
        shutil.rmtree(work, ignore_errors=True)


main()
