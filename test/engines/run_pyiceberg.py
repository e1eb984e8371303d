"""Runs steps in PyIceberg. Its only configuration is CATALOG_URI, or what `laketap connect pyiceberg` printed.

PyIceberg has no SQL: a step is Python, with the catalog as `catalog`, and the
names below. A table that a step leaves in `answer` is its answer.
"""

import datetime
import decimal
import os

import pyarrow as pa
import pyiceberg.expressions
import pyiceberg.partitioning
import pyiceberg.schema
import pyiceberg.transforms
import pyiceberg.types
from pyiceberg.catalog import load_catalog
from steps import CATALOG, printed, serve


def connect():
    if printed() is None:
        return load_catalog(CATALOG, type="rest", uri=os.environ["CATALOG_URI"])
    names = {}
    exec(printed(), names)
    return names["catalog"]


def main():
    catalog = connect()

    def rows(name, *records):
        """Makes an Arrow table of records in the order of the table's columns."""
        schema = catalog.load_table(name).schema().as_arrow()
        columns = list(zip(*records)) or [[] for _ in schema]
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema)], schema=schema)

    names = {"catalog": catalog, "rows": rows, "table": catalog.load_table, "pa": pa}
    names.update(datetime=datetime.datetime, date=datetime.date, decimal=decimal.Decimal, utc=datetime.timezone.utc)
    for module in (pyiceberg.expressions, pyiceberg.partitioning, pyiceberg.schema, pyiceberg.transforms, pyiceberg.types):
        names.update({k: v for k, v in vars(module).items() if k[0].isupper()})

    def run(text):
        # A step's first line stands behind "pyiceberg:", the others are set in
        # by two. What a step names, later steps know.
        exec(text.replace("\n  ", "\n"), names)
        return names.pop("answer", None)

    def read(step):
        scan = catalog.load_table(step["table"]).scan(snapshot_id=step.get("snapshot"))
        if step.get("where"):
            scan = scan.filter(step["where"])
        found = scan.to_arrow()
        if step.get("order"):
            found = found.sort_by([(c.strip(), "ascending") for c in step["order"].split(",")])
        if step.get("columns"):
            found = found.select([c.strip() for c in step["columns"].split(",")])
        return found

    serve(run, read)


main()
