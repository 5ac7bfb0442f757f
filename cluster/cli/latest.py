"""Which run a command means when none is named: the latest one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from boardclass.errors import InputError


def run_or_latest(directory: str | None = None) -> str:
    """Return the run that was named, or else the one under ``runs`` that was written to last; say which.

    Raises
    ------
    InputError
        When none is named and there is none.
    """
    if directory is not None:
        return directory
    from cluster.streams import tell
    from cluster.watch.catalog import DEFAULT_FOLDER, Catalog

    places = [place.location for place in Catalog(()).places().values()]
    if not places:
        raise InputError(f"no run in the folder {DEFAULT_FOLDER} here: name its directory; orderly run makes one")
    latest = max(places, key=lambda place: (_written_s(Path(place)), place))
    tell(f"orderly: the latest run, {latest}")
    return latest


def runs_or_latest(directories: Sequence[str] | None) -> list[str]:
    """Return the runs that were named, or else the latest."""
    return list(directories) if directories else [run_or_latest()]


def _written_s(run: Path) -> float:
    """Return when something was last written to a run, going by the dates of its files."""
    from results.storage import files

    written = (files.RUN, files.MANIFEST, files.EVENTS)
    return max((path.lstat().st_mtime for path in map(run.joinpath, written) if path.exists()), default=0.0)
