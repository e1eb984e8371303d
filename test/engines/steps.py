"""Speaks with the test harness: one JSON step a line in, one answer a line out.

A step is {"run": text} for the engine's own language, or {"read": {...}} for a
read that every engine can do. An answer is {"columns": [...], "rows": [...]},
or {"error": text}. Values are spelled the same whatever the engine, so that
answers can be compared as text.
"""

import datetime
import decimal
import json
import os
import sys
import traceback

import pyarrow as pa

# What the engines call the catalog.
CATALOG = os.environ.get("CATALOG", "lk")


def printed():
    """Returns what `laketap connect` printed for this engine, None if the test gave a URI alone."""
    if "CONNECT" not in os.environ:
        return None
    with open(os.environ["CONNECT"], encoding="utf-8") as f:
        return f.read()


class Printed:
    """What `laketap connect` printed in Python, which is run for one table at a time."""

    def __init__(self):
        self.text = printed()

    def names(self, table):
        """Runs the lines with a table in the place of their example; returns the names they define."""
        assert "NAMESPACE.TABLE" in self.text, self.text
        names = {}
        exec(self.text.replace("NAMESPACE.TABLE", table), names)
        return names


def serve(run, read):
    """Answers steps until the input ends. run and read return an Arrow table or None."""
    # Engines print; what they print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        step = json.loads(line)
        try:
            table = read(step["read"]) if "read" in step else run(step["run"])
            answer = spell(table)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), file=answers)


def spell(table):
    """Spells an Arrow table, or nothing, or names and rows, as an answer."""
    if table is None:
        return {"columns": [], "rows": []}
    if isinstance(table, tuple):
        names, rows = table
        return {"columns": names, "rows": [[value(v) for v in row] for row in rows]}
    fields = [
        pa.field(f.name, pa.timestamp("us", f.type.tz)) if pa.types.is_timestamp(f.type) else f
        for f in table.schema
    ]
    table = table.cast(pa.schema(fields))
    columns = [column.to_pylist() for column in table.columns]
    rows = [[value(v) for v in row] for row in zip(*columns)]
    return {"columns": table.schema.names, "rows": rows}


def value(v):
    """Spells one value: what JSON has no word for becomes text."""
    if v is None or isinstance(v, (bool, int, str)):
        return v
    if isinstance(v, float):
        return v if v == v and v not in (float("inf"), float("-inf")) else str(v)
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, datetime.datetime):
        if v.tzinfo is not None:
            return v.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat() + "Z"
        return v.isoformat()
    if isinstance(v, (datetime.date, datetime.time)):
        return v.isoformat()
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, dict):
        return {k: value(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [value(x) for x in v]
    return str(v)


def select(read, quote, version):
    """Writes a read as SQL; quote encloses names, version formats the clause for a snapshot."""
    table = ".".join(f"{quote}{part}{quote}" for part in read["table"].split("."))
    return query(read, f"{CATALOG}.{table}", version)


def query(read, table, version=""):
    """Writes a read as SQL from what the engine calls the table."""
    sql = f"select {read.get('columns') or '*'} from {table}"
    if read.get("snapshot"):
        sql += " " + version.format(read["snapshot"])
    if read.get("where"):
        sql += f" where {read['where']}"
    if read.get("order"):
        sql += f" order by {read['order']}"
    return sql
