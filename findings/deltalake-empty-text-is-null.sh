#!/usr/bin/env bash
# deltalake: the empty text in a column that a table is partitioned by comes back as null.
#
# Guess: how rows are laid out in folders changes nothing of what they say.
# Seen: deltalake 1.6.6: of the paths "" (a whole class) and "5=ab" (a part) the first is null where the table is partitioned by
#   `path`, and "" where it is not; so `path = ''` finds no row, and a count of paths is one less.  pyiceberg 0.12.0, partitioned
#   by the same column, has "".
# What orderly does: writes plain Parquet, where the empty path stays empty; docs/format.md says it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check deltalake==1.6.6 pyarrow==26.0.1 "pyiceberg[sql-sqlite,pyarrow]==0.12.0"
cat >partition.py <<'PYTHON'
import os

import deltalake
import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform

VERDICTS = pyarrow.table({"path": ["", "5=ab"], "n_boards": [676, 52]})


def by_size(table):
    return table.sort_by([("n_boards", "descending")])["path"].to_pylist()


deltalake.write_deltalake("whole", VERDICTS)
deltalake.write_deltalake("parted", VERDICTS, partition_by=["path"])
os.mkdir("iceberg")
catalog = SqlCatalog("runs", uri="sqlite:///iceberg/catalog.db", warehouse=f"file://{os.getcwd()}/iceberg")
catalog.create_namespace("runs")
iceberg = catalog.create_table("runs.verdicts", schema=VERDICTS.schema)
with iceberg.update_spec() as spec:
    spec.add_identity("path")
iceberg.append(VERDICTS)
parted = deltalake.DeltaTable("parted")
found = {
    "not partitioned": by_size(deltalake.DeltaTable("whole").to_pyarrow_table()),
    "partitioned": by_size(parted.to_pyarrow_table()),
    "where path is empty": parted.to_pyarrow_dataset().to_table(filter=pyarrow.dataset.field("path") == "").num_rows,
    "pyiceberg, partitioned": by_size(iceberg.scan().to_arrow()),
}
print("deltalake", deltalake.__version__, found)
assert found["partitioned"] == [None, "5=ab"] and found["where path is empty"] == 0, "this has changed"
assert found["not partitioned"] == found["pyiceberg, partitioned"] == ["", "5=ab"], "this has changed"
PYTHON
env/bin/python partition.py
echo "as found: the empty path is null"
