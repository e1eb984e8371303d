"""PyIceberg in the demo. Usage: pyiceberg_demo.py run | load PARQUET_DIR

PyIceberg is a library, not a query engine: it plans the scan, pushes the
filter down and reads the columns; joins and sums are PyArrow's.
"""

import glob
import os
import time
from decimal import Decimal

import protocol
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyiceberg
from pyiceberg.catalog import load_catalog

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


class Lake:
    def __init__(self):
        self.catalog = load_catalog("lk", type="rest", uri=protocol.catalog_uri())

    def name(self, table):
        return f"{protocol.NAMESPACE}.{table}"

    def scan(self, table, columns, row_filter=None):
        options = {"row_filter": row_filter} if row_filter else {}
        return self.catalog.load_table(self.name(table)).scan(selected_fields=tuple(columns.split()), **options).to_arrow()

    def rows(self, table):
        """The rows of a table by its snapshot's own summary; -1 if there is none."""
        if not self.catalog.table_exists(self.name(table)):
            return -1
        snapshot = self.catalog.load_table(self.name(table)).current_snapshot()
        return int(snapshot.summary["total-records"]) if snapshot else 0


# --- loading ---


def load(lake, parquet_dir):
    """Makes the lake hold exactly the generated tables; what it has already stays."""
    lake.catalog.create_namespace_if_not_exists(protocol.NAMESPACE)
    for table in TABLES:
        path = os.path.join(parquet_dir, f"{table}.parquet")
        want, have = pq.read_metadata(path).num_rows, lake.rows(table)
        if have == want:
            protocol.emit(event="table", name=table, rows=want, loaded=False)
            continue
        if have >= 0:  # an earlier demo was stopped half-way
            lake.catalog.drop_table(lake.name(table))
        start, data = time.monotonic(), plain_strings(pq.read_table(path))
        lake.catalog.create_table(lake.name(table), schema=data.schema)
        # Loaded again, because not every catalog vends keys for a table that it creates.
        lake.catalog.load_table(lake.name(table)).append(data)
        seconds = round(time.monotonic() - start, 3)
        protocol.emit(event="table", name=table, rows=want, loaded=True, seconds=seconds)


def plain_strings(data):
    """string_view, which the generator writes, is unknown to Iceberg's mapping."""
    fields = [f.with_type(pa.string()) if f.type == pa.string_view() else f for f in data.schema]
    return data.cast(pa.schema(fields))


# --- questions ---


def product(price, *factors):
    """Multiplies decimals exactly, at a width that leaves room for the sum."""
    result = price.cast(pa.decimal128(13, 2))
    for factor in factors:
        result = pc.multiply(result, factor.cast(pa.decimal128(5, 2)))
    return result


def less(column):
    return pc.subtract(pa.scalar(Decimal("1.00")), column)


def discounted(t):
    return t.append_column("revenue", product(t["l_extendedprice"], less(t["l_discount"])))


def total(t, keys, *sums):
    t = t.group_by(keys).aggregate([(s, "sum") for s in sums])
    return t.rename_columns([c.removesuffix("_sum") for c in t.column_names])


def rows(t, columns, order=(), limit=None):
    t = t.sort_by(list(order)) if order else t
    t = t.select(columns.split())[:limit]
    return [tuple(row.values()) for row in t.to_pylist()]


def counts(lake):
    return [(table, lake.catalog.load_table(lake.name(table)).scan().count()) for table in TABLES]


def q1(lake):
    flags, money = ["l_returnflag", "l_linestatus"], ["l_quantity", "l_extendedprice", "l_discount"]
    t = lake.scan("lineitem", " ".join(flags + money) + " l_tax", "l_shipdate <= '1998-09-02'")
    disc, tax = less(t["l_discount"]), pc.add(pa.scalar(Decimal("1.00")), t["l_tax"])
    t = t.append_column("disc_price", product(t["l_extendedprice"], disc))
    t = t.append_column("charge", product(t["l_extendedprice"], disc, tax))
    t = t.append_column("n", pa.array([1] * len(t), pa.int64()))
    t = total(t, flags, *money, "disc_price", "charge", "n")
    for c in money:
        t = t.append_column(f"avg_{c}", pc.divide(t[c].cast(pa.float64()), t["n"].cast(pa.float64())))
    columns = "l_returnflag l_linestatus l_quantity l_extendedprice disc_price charge"
    columns += " avg_l_quantity avg_l_extendedprice avg_l_discount n"
    return rows(t, columns, [(f, "ascending") for f in flags])


def q3(lake):
    customer = lake.scan("customer", "c_custkey", "c_mktsegment = 'BUILDING'")
    orders = lake.scan("orders", "o_orderkey o_custkey o_orderdate o_shippriority", "o_orderdate < '1995-03-15'")
    lineitem = lake.scan("lineitem", "l_orderkey l_extendedprice l_discount", "l_shipdate > '1995-03-15'")
    orders = orders.join(customer, "o_custkey", "c_custkey", "inner")
    t = discounted(lineitem.join(orders, "l_orderkey", "o_orderkey", "inner"))
    t = total(t, ["l_orderkey", "o_orderdate", "o_shippriority"], "revenue")
    order = [("revenue", "descending"), ("o_orderdate", "ascending"), ("l_orderkey", "ascending")]
    return rows(t, "l_orderkey revenue o_orderdate o_shippriority", order, 10)


def q5(lake):
    region = lake.scan("region", "r_regionkey", "r_name = 'ASIA'")
    nation = lake.scan("nation", "n_nationkey n_name n_regionkey").join(region, "n_regionkey", "r_regionkey", "inner")
    supplier = lake.scan("supplier", "s_suppkey s_nationkey").join(nation, "s_nationkey", "n_nationkey", "inner")
    customer = lake.scan("customer", "c_custkey c_nationkey")
    orders = lake.scan("orders", "o_orderkey o_custkey", "o_orderdate >= '1994-01-01' and o_orderdate < '1995-01-01'")
    orders = orders.join(customer, "o_custkey", "c_custkey", "inner")
    t = lake.scan("lineitem", "l_orderkey l_suppkey l_extendedprice l_discount")
    t = t.join(orders, "l_orderkey", "o_orderkey", "inner")
    t = t.join(supplier, ["l_suppkey", "c_nationkey"], ["s_suppkey", "s_nationkey"], "inner")
    t = total(discounted(t), ["n_name"], "revenue")
    return rows(t, "n_name revenue", [("revenue", "descending"), ("n_name", "ascending")])


def q6(lake):
    t = lake.scan(
        "lineitem",
        "l_extendedprice l_discount",
        "l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01'"
        " and l_discount >= 0.05 and l_discount <= 0.07 and l_quantity < 24.00",
    )
    return [(pc.sum(product(t["l_extendedprice"], t["l_discount"])).as_py(),)]


def q10(lake):
    nation = lake.scan("nation", "n_nationkey n_name")
    customer = lake.scan("customer", "c_custkey c_name c_acctbal c_phone c_nationkey")
    customer = customer.join(nation, "c_nationkey", "n_nationkey", "inner")
    orders = lake.scan("orders", "o_orderkey o_custkey", "o_orderdate >= '1993-10-01' and o_orderdate < '1994-01-01'")
    lineitem = lake.scan("lineitem", "l_orderkey l_extendedprice l_discount", "l_returnflag = 'R'")
    t = total(discounted(lineitem.join(orders, "l_orderkey", "o_orderkey", "inner")), ["o_custkey"], "revenue")
    t = t.join(customer, "o_custkey", "c_custkey", "inner")
    order = [("revenue", "descending"), ("o_custkey", "ascending")]
    return rows(t, "o_custkey c_name revenue c_acctbal n_name c_phone", order, 20)


def q14(lake):
    t = lake.scan(
        "lineitem", "l_partkey l_extendedprice l_discount", "l_shipdate >= '1995-09-01' and l_shipdate < '1995-10-01'"
    )
    promo = lake.scan("part", "p_partkey", "p_type like 'PROMO%'")
    t = discounted(t)
    promoted = t.join(promo, "l_partkey", "p_partkey", "inner")
    return [(100 * float(pc.sum(promoted["revenue"]).as_py()) / float(pc.sum(t["revenue"]).as_py()),)]


def main(mode, *args):
    protocol.begin("pyiceberg", pyiceberg.__version__)
    lake = Lake()
    if mode == "load":
        return load(lake, *args)
    for q in protocol.questions():
        protocol.answer(q, lambda: globals()[q["id"]](lake))


protocol.run(main)
