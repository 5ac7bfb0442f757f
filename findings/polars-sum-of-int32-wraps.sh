#!/usr/bin/env bash
# Polars: the sum of a column of 32-bit numbers has 32 bits, and becomes negative without a word.
#
# Guess: a sum has 64 bits, as it has in numpy, pandas, pyarrow and DuckDB, and as Polars itself has it for columns of 8 and 16
#   bits.
# Seen: Polars 2.1.0: 2,000,000,000 twice is -294967296, by sum(), after group_by and in its SQL.  The mean is right, and so is
#   the sum of a million times 30,000 in 16 bits.  numpy 2.4.6, pandas 3.1.1, pyarrow 26.0.1 and DuckDB 2.0.1 say 4,000,000,000.
# What orderly does: the scores in `candidates` are int32; docs/format.md says to cast them first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check polars==2.1.0 numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.1
cat >add.py <<'PYTHON'
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.compute

scores = numpy.array([2_000_000_000, 2_000_000_000], dtype=numpy.int32)
frame = polars.DataFrame({"place": [1, 1], "score": scores})
arrow = pyarrow.table({"score": scores})
by_polars = {
    "sum()": frame["score"].sum(),
    "group_by": frame.group_by("place").agg(polars.col("score").sum())["score"][0],
    "SQL": polars.SQLContext(t=frame).execute("select sum(score) from t").collect().item(),
}
others = {
    "numpy": int(scores.sum()),
    "pandas": int(pandas.Series(scores).sum()),
    "pyarrow": pyarrow.compute.sum(arrow["score"]).as_py(),
    "DuckDB": duckdb.sql("select sum(score) from arrow").fetchall()[0][0],
    "Polars, mean()": int(frame["score"].mean() * 2),
}
small = polars.Series([30_000] * 1_000_000, dtype=polars.Int16).sum()
print("Polars", polars.__version__, by_polars, "others", others, "16 bits", small)
assert set(by_polars.values()) == {-294967296}, "this has changed"
assert set(others.values()) == {4_000_000_000} and small == 30_000_000_000, "this has changed"
PYTHON
env/bin/python add.py
echo "as found: the sum of two scores is negative"
