"""Runs steps in ClickHouse, in this process, as `laketap connect clickhouse` says."""

import io
import re

import pyarrow as pa
from chdb import session
from steps import CATALOG, printed, query, serve


def statements(text):
    """Splits SQL into its statements, without comments."""
    text = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
    return [s.strip() for s in text.split(";") if s.strip()]


def main():
    db = session.Session()
    for statement in statements(printed()):
        db.query(statement)
    # Tables of strings, not of bytes; a null stays one; times as they are stored.
    db.query("SET session_timezone = 'UTC'")

    def run(text):
        for statement in statements(text):
            db.query(statement)

    def read(step):
        # One name, in which the point between namespace and table is a character.
        found = db.query(query(step, f"{CATALOG}.`{step['table']}`"), "Arrow").bytes()
        return pa.ipc.open_file(io.BytesIO(found)).read_all()

    serve(run, read)


main()
