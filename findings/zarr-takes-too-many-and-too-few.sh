#!/usr/bin/env bash
# Zarr: three values are assigned to two places, and to four, without a word: one is dropped, or the last one written twice.
#
# Guess: as in numpy, a[3:5] = [1, 2, 3] is an error, since the shapes differ.
# Seen: zarr 3.1.6, chunks of five: a[3:5] = [1, 2, 3] stores 1, 2, and a[3:7] = [1, 2, 3] stores 1, 2, 3, 3; of six values the
#   first ones are stored.  In two dimensions the corner of a larger array is.  a[3:7] = [1] is an error, and numpy 2.4.6 refuses
#   all of them.
# What orderly does: keeps rows in Parquet; the number of rows of a part is checked against its manifest.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check zarr==3.1.6 numpy==2.4.6
cat >assign.py <<'PYTHON'
import numpy
import zarr

CASES = [(slice(3, 5), [1, 2, 3]), (slice(3, 7), [1, 2, 3]), (slice(3, 7), [1, 2, 3, 4, 5, 6]), (slice(3, 7), [1])]


def assigned(array, places, values):
    array[:] = 0
    try:
        array[places] = values
    except ValueError as error:
        return str(error)
    return array[places].tolist()


scores = zarr.create_array("scores.zarr", shape=(10,), chunks=(5,), dtype="int64", fill_value=0)
table = zarr.create_array("table.zarr", shape=(4, 4), chunks=(2, 2), dtype="int64", fill_value=0)
found = [assigned(scores, places, values) for places, values in CASES]
corner = assigned(table, (slice(0, 2), slice(0, 2)), numpy.arange(9).reshape(3, 3))
refused = [assigned(numpy.zeros(10, int), places, values) for places, values in CASES[:3]]
print("zarr", zarr.__version__, "numpy", numpy.__version__)
for (places, values), ours in zip(CASES, found, strict=True):
    print(f"a[{places.start}:{places.stop}] = {values}: {ours}")
print("table[:2, :2] = 3 x 3:", corner, "numpy:", refused)
assert found[:3] == [[1, 2], [1, 2, 3, 3], [1, 2, 3, 4]] and isinstance(found[3], str), "this has changed"
assert corner == [[0, 1], [3, 4]] and all(isinstance(answer, str) for answer in refused), "this has changed"
PYTHON
env/bin/python assign.py
echo "as found: values are dropped, and written twice"
