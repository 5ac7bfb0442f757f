"""Write what the published runs prove beside them, after one was added or changed.

python -m tests.bench.packaged    writes results/published/proven.json
"""

from dataclasses import asdict

from orderly_boggle.results.proof import packaged
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.store.documents import publish_document


def write() -> None:
    """Work out what all runs prove, and write it beside them."""
    names = sorted(path.parent.name for path in packaged.PUBLISHED.glob(f"*/{files.RUN}"))
    kept = {name: asdict(packaged.worked_out(name)) for name in names}
    publish_document(open_folder(packaged.PUBLISHED), packaged.PROVEN, {"runs": kept})


if __name__ == "__main__":
    write()
