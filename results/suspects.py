"""Units whose verdict came from a host that was later contradicted: to be searched again, here or elsewhere.

A replica that differs leaves a quarantined row that names the host not to be believed.  Its other verdicts stand in the
store; searched again they are merged, or the store stops with the contradiction.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from results import files
from results.index import Key
from results.run import Run
from results.schema import VERDICTS

_COLUMNS = ("class_id", "path", "status", "host")


def suspects(run: Run) -> list[Key]:
    """Return the units with a verdict from a doubted host, sorted; none once there is a claim, which waits for them."""
    hosts = sorted(run.index.doubted_hosts) if run.folder.read(files.CLAIM) is None else []
    if not hosts:
        return []
    found: set[Key] = set()
    for table in run.columns(_COLUMNS):
        is_verdict = pc.is_in(table.column("status"), pa.array(VERDICTS))
        theirs = table.filter(pc.and_(is_verdict, pc.is_in(table.column("host"), pa.array(hosts))))
        found.update(zip(theirs.column("class_id").to_pylist(), theirs.column("path").to_pylist(), strict=True))
    return sorted(found)
