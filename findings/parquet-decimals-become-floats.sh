#!/usr/bin/env bash
# fastparquet and hyparquet: an exact decimal of a Parquet file is read as a float, and loses digits.
#
# Guess: who stores DECIMAL(38, 0) does so to have all digits, and a reader gives them, or says that it cannot.
# Seen: of 43608742899428874059776, the number of 4x4 boards, as DECIMAL(38, 0) fastparquet 2026.9.0 and hyparquet 1.33.0 make
#   4.360874289942888e+22, and of 9007199254740993 as DECIMAL(18, 0) 9007199254740992; the same number as BIGINT both have right.
#   pyarrow 26.0.1, pandas 3.1.1 by pyarrow, Polars 2.1.0 and DataFusion 55.0.0 have all digits.
# What orderly does: n_boards is text; docs/format.md says who reads sums of it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fastparquet==2026.9.0 pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 \
    datafusion==55.0.0
npm install --silent --no-fund --no-audit hyparquet@1.33.0
cat >read.mjs <<'JS'
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
const file = await asyncBufferFromFile("sum.parquet");
const [row] = await parquetReadObjects({ file });
console.log(JSON.stringify(Object.values(row).map(String)));
JS
cat >read.py <<'PYTHON'
import json
import subprocess
from decimal import Decimal

import datafusion
import fastparquet
import pandas
import polars
import pyarrow
import pyarrow.parquet

N_BOARDS, ODD = 26**16, 2**53 + 1
columns = {
    "n_boards": pyarrow.array([Decimal(N_BOARDS)], pyarrow.decimal128(38, 0)),
    "odd": pyarrow.array([Decimal(ODD)], pyarrow.decimal128(18, 0)),
    "bigint": pyarrow.array([ODD]),
}
pyarrow.parquet.write_table(pyarrow.table(columns), "sum.parquet", compression="snappy")
exact = {
    "pyarrow": pyarrow.parquet.read_table("sum.parquet").to_pylist()[0].values(),
    "pandas": pandas.read_parquet("sum.parquet").iloc[0],
    "Polars": polars.read_parquet("sum.parquet").row(0),
    "DataFusion": datafusion.SessionContext().read_parquet("sum.parquet").to_pylist()[0].values(),
}
for reader, values in exact.items():
    assert [int(value) for value in values] == [N_BOARDS, ODD, ODD], f"this has changed: {reader}"
read = fastparquet.ParquetFile("sum.parquet").to_pandas()
by_fastparquet = [read[name].iloc[0] for name in columns]
answer = subprocess.run(["node", "read.mjs"], capture_output=True, text=True, check=True).stdout
by_hyparquet = json.loads(answer)
print("fastparquet", fastparquet.__version__, by_fastparquet, "hyparquet", by_hyparquet, "exact:", *exact)
assert by_fastparquet == [float(N_BOARDS), float(ODD), ODD], "this has changed"
assert int(by_fastparquet[1]) == ODD - 1 and int(by_fastparquet[2]) == ODD, "this has changed"
assert by_hyparquet == ["4.360874289942888e+22", str(ODD - 1), str(ODD)], "this has changed"
PYTHON
env/bin/python read.py
echo "as found: decimals are floats"
