"""Runs reads in DataFusion as `laketap connect datafusion` says."""

import pyarrow as pa
from steps import Printed, query, serve


def main():
    lines = Printed()

    def run(text):
        raise NotImplementedError("DataFusion only reads here")

    def read(step):
        batches = lines.names(step["table"])["session"].sql(query(step, "t"))
        return pa.table(batches.to_arrow_table())

    serve(run, read)


main()
