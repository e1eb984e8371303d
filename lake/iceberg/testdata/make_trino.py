"""Makes the sample tables that Trino writes; make.py calls it.

TRINO is the folder that test/engines/setup installs (lib and plugin), JAVA a
Java that runs it (24 or newer)."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# {t} is the table. Trino takes no statement with a semicolon at its end.
TRINO = {
    "trino_transforms": [  # all transforms, on all types that it takes them of
        """create table {t} (k uuid, k2 uuid, region varchar, ok boolean, n integer, l bigint, r real, f double, price decimal(9,2),
           d date, d2 date, ts timestamp(6), ts2 timestamp(6), tz timestamp(6) with time zone, clock time(6), raw varbinary)
           with (format_version = 2, partitioning = array['k', 'bucket(k2, 4)', 'region', 'ok', 'n', 'truncate(l, 10)', 'r', 'f',
           'truncate(price, 50)', 'year(d)', 'month(d2)', 'day(ts)', 'hour(ts2)', 'bucket(tz, 3)', 'clock', 'raw'],
           sorted_by = array['l desc nulls last'])""",
        """insert into {t} values
           (uuid '12151fd2-7586-11e9-8f9e-2a86e4085a59', uuid 'f24f9b64-81fa-49d1-b74e-8c09a6e31c56', 'süd/ost =', true, 17, 1, real '1.5', 2.5e0,
            decimal '12.34', date '2026-01-02', date '1969-12-30', timestamp '2026-01-02 03:04:05.000006', timestamp '1960-01-02 03:04:05',
            timestamp '2026-01-02 03:04:05 UTC', time '01:02:03.000004', x'0102'),
           (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
           (uuid '00000000-0000-0000-0000-000000000000', uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', false, -7, -9223372036854775808,
            real '-0.0', nan(), decimal '-0.01', date '0001-01-01', date '9999-12-31', timestamp '1969-12-31 23:59:59',
            timestamp '2038-01-19 03:14:08', timestamp '1969-12-31 23:59:59 UTC', time '23:59:59.999999', x'')""",
        "analyze {t}",
    ],
    "trino_v1": [
        """create table {t} (id integer, kind varchar, p row(x real, tags map(varchar, array(integer))), day date)
           with (format_version = 1, format = 'ORC', partitioning = array['kind', 'month(day)'])""",
        "insert into {t} values (1, 'a', row(1.5, map(array['k'], array[array[1, 2]])), date '2026-01-01'), (2, null, null, null)",
        "delete from {t} where kind = 'a'",
        "insert into {t} values (3, 'b', null, date '1969-01-01')",
    ],
    "trino_evolved": [  # position deletes, specs and schemas, manifests that are put together
        """create table {t} (id bigint not null, kind varchar, p row(x integer, y double), note varchar)
           with (format_version = 2, partitioning = array['kind'])""",
        "insert into {t} values (1, 'a', row(1, 2.0), 'n'), (2, 'a', null, null), (3, 'b', null, null), (4, 'b', null, null)",
        "delete from {t} where id = 1",
        "update {t} set note = 'w' where id = 3",
        "alter table {t} set properties partitioning = array['bucket(id, 4)', 'truncate(kind, 1)']",
        "alter table {t} add column added timestamp(6) comment 'later'",
        "alter table {t} rename column kind to sort",
        "alter table {t} alter column p.x set data type bigint",
        "alter table {t} drop column p.y",
        "alter table {t} add column p.z varchar",
        "insert into {t} values (5, 'c', null, null, timestamp '2026-01-01 00:00:00'), (6, null, null, null, null)",
        "alter table {t} set properties partitioning = array[]",
        "insert into {t} values (7, 'e', null, null, null)",
        """merge into {t} t using (values (5, 'm'), (9, 'i')) s(id, v) on t.id = s.id
           when matched then update set note = s.v when not matched then insert (id, note) values (s.id, s.v)""",
        "alter table {t} execute optimize_manifests",
        "alter table {t} execute optimize",
        "truncate table {t}",
    ],
}


def trino(info, namespace):
    """Starts a Trino, lets it make its tables, and ends it."""
    from trino.dbapi import connect

    work = tempfile.mkdtemp()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    os.makedirs(work + "/etc/catalog")
    with open(work + "/etc/config.properties", "w") as config:
        config.write(f"""coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
discovery.uri=http://127.0.0.1:{port}
query.max-memory=256MB
query.max-memory-per-node=256MB
memory.heap-headroom-per-node=200MB
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
""")
    with open(work + "/etc/catalog/lk.properties", "w") as config:
        config.write(f"""connector.name=iceberg
iceberg.catalog.type=rest
iceberg.rest-catalog.uri={info["catalog"]}
fs.native-s3.enabled=true
s3.endpoint={info["s3"]["endpoint"]}
s3.region={info["s3"]["region"]}
s3.path-style-access=true
s3.aws-access-key={info["keys"]["id"]}
s3.aws-secret-key={info["keys"]["secret"]}
""")
    home = os.environ["TRINO"]
    server = subprocess.Popen(
        [os.environ["JAVA"], "-Xmx1G", "-XX:+ExitOnOutOfMemoryError", "-XX:TieredStopAtLevel=1", "-Djdk.attach.allowAttachSelf=true",
         "-XX:+EnableDynamicAgentLoading", "--enable-native-access=ALL-UNNAMED", "-Dfile.encoding=UTF-8", "-cp", home + "/lib/*",
         "-Dnode.environment=samples", "-Dnode.id=one", f"-Dnode.data-dir={work}/data", f"-Dconfig={work}/etc/config.properties",
         f"-Dplugin.dir={home}/plugin", f"-Dcatalog.config-dir={work}/etc/catalog", "io.trino.server.TrinoServer"],
        stdout=open(work + "/log", "w"), stderr=subprocess.STDOUT, cwd=work)
    try:
        def run(statement):
            cursor = connect(host="127.0.0.1", port=port, user="samples", catalog="lk", schema=namespace).cursor()
            cursor.execute(statement)
            return cursor.fetchall()

        for left in range(180, -1, -1):
            try:
                run("select 1")
                break
            except Exception:
                if left == 0 or server.poll() is not None:
                    sys.stderr.write(open(work + "/log").read()[-3000:])
                    raise
                time.sleep(1)
        # Trino wants the place of a new table empty, and it is so only if Trino
        # chooses it, inside the place of its schema.
        run(f"create schema if not exists lk.{namespace}")
        change = {"updates": {"location": f"{info['warehouse']}/{namespace}"}}
        urllib.request.urlopen(urllib.request.Request(
            f"{info['catalog']}/v1/namespaces/{namespace}/properties", json.dumps(change).encode(),
            {"Content-Type": "application/json"}, method="POST")).close()
        for table, statements in TRINO.items():
            for statement in statements:
                try:
                    run(statement.format(t=f"lk.{namespace}.{table}"))
                except Exception as error:
                    print(f"{table}: {statement[:60]}: {str(error)[:300]}", file=sys.stderr)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(work, ignore_errors=True)
