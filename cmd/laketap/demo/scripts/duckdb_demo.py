"""DuckDB in the demo. Usage: duckdb_demo.py run | reference PARQUET_DIR"""

import glob
import os
import site

import duckdb
import protocol


def connect():
    """DuckDB with the extensions of the installed wheels, nothing downloaded."""
    con = duckdb.connect()
    con.execute("SET autoinstall_known_extensions=false")
    con.execute("SET autoload_known_extensions=false")
    for name in ("httpfs", "avro", "iceberg"):  # the order matters: iceberg needs the other two
        con.execute(f"LOAD '{extension(name)}'")
    return con


def extension(name):
    version = f"v{duckdb.__version__}"
    for packages in site.getsitepackages():
        for pattern in (
            f"duckdb_extension_{name}/extensions/{version}/{name}.duckdb_extension",
            f"duckdb_ext/extensions/{version}/*/{name}.duckdb_extension",
        ):
            for path in glob.glob(os.path.join(packages, pattern)):
                return path
    protocol.fail(f"the DuckDB extension {name} for {version} is not installed")


def attach_lake():
    con = connect()
    # 'none' because the local lake asks for no token; DuckDB assumes OAuth2 otherwise.
    con.execute(f"ATTACH '' AS lk (TYPE iceberg, ENDPOINT '{protocol.catalog_uri()}', AUTHORIZATION_TYPE 'none')")
    con.execute(f"USE lk.{protocol.NAMESPACE}")
    return con


def attach_files(parquet_dir):
    """The generated files themselves, without catalog, store or Laketap."""
    con = duckdb.connect()
    for path in glob.glob(os.path.join(parquet_dir, "*.parquet")):
        table = os.path.basename(path).removesuffix(".parquet")
        con.execute(f"CREATE VIEW {table} AS FROM read_parquet('{path}')")
    return con


def main(mode, *args):
    protocol.begin("duckdb", duckdb.__version__)
    con = attach_files(*args) if mode == "reference" else attach_lake()
    for q in protocol.questions():
        protocol.answer(q, lambda: con.execute(" ".join(q["sql"])).fetchall())


protocol.run(main)
