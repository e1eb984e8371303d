"""Makes the sample tables that Daft writes; make.py calls it. Daft writes data
files and their figures, and has PyIceberg create tables and commit."""
import datetime as dt
import decimal
import sys


def daft(uri, namespace):
    import daft as df
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
                                      TruncateTransform, YearTransform)
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, IntegerType, LongType, NestedField,
                                 StringType, TimestampType, TimestamptzType)

    catalog = load_catalog("lk", type="rest", uri=uri)
    catalog.create_namespace_if_not_exists(namespace)
    columns = [  # a column and its transform, each; Daft writes them all but on binary and floats
        (LongType(), IdentityTransform()), (BooleanType(), IdentityTransform()), (StringType(), IdentityTransform()),
        (DateType(), IdentityTransform()), (DecimalType(9, 2), IdentityTransform()), (LongType(), BucketTransform(4)),
        (StringType(), BucketTransform(3)), (IntegerType(), TruncateTransform(10)), (StringType(), TruncateTransform(2)),
        (DateType(), YearTransform()), (TimestampType(), MonthTransform()), (TimestamptzType(), DayTransform()),
        (TimestampType(), HourTransform()), (DoubleType(), None), (BinaryType(), None),
    ]
    utc = dt.timezone.utc
    rows = [
        [1, True, "süd/ost =", dt.date(1969, 1, 1), decimal.Decimal("-1.25"), 2, "añb", -7, "ßxy", dt.date(2026, 1, 2),
         dt.datetime(1969, 12, 31, 23), dt.datetime(2026, 1, 1, 5, tzinfo=utc), dt.datetime(2026, 1, 1, 5), 1.5, b"\x00\xff"],
        [None] * len(columns),
        [-1, False, "", dt.date(9999, 12, 31), decimal.Decimal("0.01"), -2, "", 17, "x", dt.date(1, 1, 1),
         dt.datetime(2026, 7, 1), dt.datetime(1960, 1, 1, tzinfo=utc), dt.datetime(1960, 1, 1), float("nan"), b""],
    ]
    for version in ["1", "2"]:
        name = f"daft_v{version}"
        schema = Schema(*[NestedField(i + 1, f"c{i + 1}", t, required=False) for i, (t, _) in enumerate(columns)])
        fields = [PartitionField(i + 1, 1000 + i, columns[i][1], f"p{i + 1}") for i in range(13)]
        table = catalog.create_table(f"{namespace}.{name}", schema, partition_spec=PartitionSpec(*fields), properties={"format-version": version})
        arrow = table.schema().as_arrow()

        def write(some, mode):
            data = pa.table([pa.array(c, f.type) for c, f in zip(zip(*some), arrow)], schema=arrow)
            df.from_arrow(data).write_iceberg(table, mode=mode)

        for some, mode in [(rows[:2], "append"), (rows[2:], "append"), (rows[:1], "overwrite")]:
            try:
                write(some, mode)
            except Exception as error:
                print(f"{name}: {mode}: {str(error)[:500]}", file=sys.stderr)
