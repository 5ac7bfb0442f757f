from .proof.packaged import published
from .proof.prove import boards, summary, top
from .reading.sql import connect
from .store.rows import Row
from .store.run import Run, open_run

__all__ = ["Row", "Run", "boards", "connect", "open_run", "published", "summary", "top"]
