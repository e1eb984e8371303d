"""Runs steps in Trino. The server is the test's, at TRINO; TRINO_CATALOG is what it calls the catalog."""

import os
import time
import urllib.parse

import trino
from steps import query, serve


READY_SECONDS = 60


def wait(run):
    """Returns once the server has a node to run queries on, a moment after it says that it runs."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            return run("select count(*) from (values 1, 2)")
        except trino.exceptions.TrinoQueryError as error:
            if error.error_name not in ("NO_NODES_AVAILABLE", "SERVER_STARTING_UP") or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def main():
    server = urllib.parse.urlsplit(os.environ["TRINO"])
    catalog = os.environ["TRINO_CATALOG"]
    connection = trino.dbapi.connect(host=server.hostname, port=server.port, user="test", catalog=catalog, timezone="UTC")

    def run(text):
        cursor = connection.cursor()
        cursor.execute(text)
        rows = cursor.fetchall()
        return [column.name for column in cursor.description or []], rows

    def read(step):
        names = ".".join(f'"{part}"' for part in step["table"].split("."))
        return run(query(step, names, "for version as of {}"))

    wait(run)
    serve(run, read)


main()
