"""Runs steps in Polars as `laketap connect polars` says. A step is Python."""

import datetime
import decimal

import polars as pl
from steps import Printed, query, serve


def main():
    lines = Printed()
    names = {"pl": pl, "datetime": datetime.datetime, "date": datetime.date, "decimal": decimal.Decimal}
    names.update(utc=datetime.timezone.utc, connect=lambda table: names.update(lines.names(table)))

    def run(text):
        exec(text.replace("\n  ", "\n"), names)

    def read(step):
        return lines.names(step["table"])["frame"].sql(query(step, "self")).collect().to_arrow()

    serve(run, read)


main()
