"""Prints where the columns of Parquet files lie, as PyArrow reads their footers.

For each file below a folder one line of JSON: its path below the folder, its
size, and of each column chunk its field id, its name, its first byte and its
length.
"""

import json
import pathlib
import sys

import pyarrow.parquet as pq


def ids(schema):
    """Returns the field id of each top-level column, by name."""
    return {f.name: int((f.metadata or {}).get(b"PARQUET:field_id", 0)) for f in schema}


def chunks(file):
    fields = ids(file.schema_arrow)
    for g in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(g)
        for c in range(group.num_columns):
            column = group.column(c)
            starts = [column.data_page_offset]
            # Some writers say 0, and mean that there is none.
            if column.has_dictionary_page and column.dictionary_page_offset:
                starts.append(column.dictionary_page_offset)
            name = column.path_in_schema.split(".")[0]
            yield {"field": fields[name], "name": name, "off": min(starts), "len": column.total_compressed_size}


def main(folder):
    root = pathlib.Path(folder)
    for path in sorted(root.rglob("*.parquet")):
        if path.is_file():
            line = {"path": str(path.relative_to(root)), "size": path.stat().st_size, "chunks": list(chunks(pq.ParquetFile(path)))}
            print(json.dumps(line))


main(sys.argv[1])
