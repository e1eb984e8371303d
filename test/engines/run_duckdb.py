"""Runs steps in DuckDB. Its only configuration is CATALOG_URI, or what `laketap connect duckdb` printed."""

import glob
import os
import re
import site

import duckdb
from steps import CATALOG, printed, select, serve


def connect(uri):
    db = duckdb.connect()
    db.execute("SET autoinstall_known_extensions=false; SET autoload_known_extensions=false")
    db.execute("SET TimeZone='UTC'")
    packages = site.getsitepackages()[0]
    for name in ("httpfs", "avro", "iceberg"):  # iceberg needs the other two
        found = glob.glob(f"{packages}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
        db.execute(f"LOAD '{found[0]}'")
    if printed() is None:
        db.execute(f"ATTACH '' AS {CATALOG} (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none')")
    else:
        # All but INSTALL and LOAD, which would fetch what the wheels have brought.
        db.execute(re.sub(r"(INSTALL|LOAD) \w+;", "", printed()))
    return db


def main():
    db = connect(os.environ.get("CATALOG_URI"))

    def run(text):
        done = db.execute(text)
        return done.to_arrow_table() if done.description else None

    serve(run, lambda read: run(select(read, '"', "at (version => {})")))


main()
