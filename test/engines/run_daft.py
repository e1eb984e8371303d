"""Runs steps in Daft as `laketap connect daft` says. A step is Python."""

import datetime
import decimal

import daft
import pyarrow as pa
from steps import Printed, query, serve


def main():
    lines = Printed()
    names = {"daft": daft, "pa": pa, "datetime": datetime.datetime, "date": datetime.date, "decimal": decimal.Decimal}
    names.update(utc=datetime.timezone.utc, connect=lambda table: names.update(lines.names(table)))

    def run(text):
        exec(text.replace("\n  ", "\n"), names)

    def read(step):
        return daft.sql(query(step, "frame"), frame=lines.names(step["table"])["frame"]).to_arrow()

    serve(run, read)


main()
