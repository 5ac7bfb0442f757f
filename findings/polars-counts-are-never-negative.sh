#!/usr/bin/env bash
# Polars: two boards less than five is 4,294,967,293 boards.
#
# Guess: a count is a whole number like others, and the difference of two counts may be negative.
# Seen: Polars 2.1.0: len(), count() and n_unique() are unsigned, of 32 bits; what is subtracted from them goes round below 0,
#   without a word: len() - 5 of two rows is 4294967293, and so is one count less a larger one.  A filter for `< 0` finds
#   nothing.  DuckDB 2.0.1, pandas 3.1.1 and pyarrow 26.0.1 say -3.
# What orderly does: counts in its own rows are int64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.1
cat >count.py <<'PYTHON'
import duckdb
import pandas
import polars as pl
import pyarrow
import pyarrow.compute

boards = pyarrow.table({"run": ["old"] * 5 + ["new"] * 2, "score": [1, 2, 3, 4, 5, 6, 7]})
frame = pl.from_arrow(boards)
is_new = pl.col("run") == "new"
less_five = frame.filter(is_new).select(pl.len() - 5).item()
change = frame.select(
    count=pl.col("score").filter(is_new).count() - pl.col("score").filter(~is_new).count(),
    n_unique=pl.col("score").filter(is_new).n_unique() - pl.col("score").filter(~is_new).n_unique(),
)
lost = frame.group_by("run").agg((pl.len() - 4).alias("more")).filter(pl.col("more") < 0)
by_duckdb = "select count(*) filter (run = 'new') - count(*) filter (run = 'old') from boards"
sizes = boards.to_pandas().groupby("run").size()
by_run = boards.group_by("run").aggregate([("score", "count")]).to_pydict()
counts = dict(zip(by_run["run"], by_run["score_count"], strict=True))
others = {
    "DuckDB": duckdb.sql(by_duckdb).fetchall()[0][0],
    "pandas": int(sizes["new"] - sizes["old"]),
    "pyarrow": counts["new"] - counts["old"],
}
print("Polars", pl.__version__, less_five, change.row(0, named=True), "groups below 0:", lost.height, "others", others)
assert (less_five, *change.row(0)) == (2**32 - 3,) * 3 and lost.height == 0, "this has changed"
assert set(others.values()) == {-3}, "this has changed"
PYTHON
env/bin/python count.py
echo "as found: differences of counts go round below 0"
