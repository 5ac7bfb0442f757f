#!/usr/bin/env bash
# pyarrow: bytes of fixed length from numpy are cut at the first zero byte, wherever it stands.
#
# Guess: numpy leaves out zeros at the end of such bytes, as it says; those before others are kept, there and in Arrow.
# Seen: numpy 2.4.6 has b"\4\0\1" as it is; of it pyarrow 26.0.1 makes b"\4", and of b"\0\1\2" nothing at all, without a word.
#   With type=pa.binary(3) it keeps them; Polars 2.1.0 keeps them in any case.
# What orderly does: in certificates the order of cells is such bytes, with a 0 for the first cell; it gives pyarrow Python's
#   bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6 polars==2.1.0
cat >convert.py <<'PYTHON'
import numpy
import polars
import pyarrow

ORDERS = [bytes([4, 0, 1]), bytes([1, 2, 3]), bytes([0, 1, 2])]
orders = numpy.array(ORDERS, dtype="S3")
found = {
    "numpy": orders.tolist(),
    "pyarrow": pyarrow.array(orders).to_pylist(),
    "pyarrow, a table": pyarrow.table({"order": orders})["order"].to_pylist(),
    "pyarrow, binary(3)": pyarrow.array(orders, type=pyarrow.binary(3)).to_pylist(),
    "Polars": polars.Series(orders).to_list(),
}
print("pyarrow", pyarrow.__version__, "numpy", numpy.__version__)
for reader, values in found.items():
    print(f"{reader}: {values}")
    expected = [b"\x04", b"\x01\x02\x03", b""] if reader in ("pyarrow", "pyarrow, a table") else ORDERS
    assert values == expected, "this has changed"
PYTHON
env/bin/python convert.py
echo "as found: pyarrow cuts at the first zero"
