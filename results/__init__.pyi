from .proof.packaged import published
from .proof.prove import boards, summary, top
from .proof.verify import verify
from .reading.sql import connect
from .store.rows import Row
from .store.run import Run, open_run
from .store.words import run_wordlist

__all__ = [
    "Row",
    "Run",
    "boards",
    "connect",
    "open_run",
    "published",
    "run_wordlist",
    "summary",
    "top",
    "verify",
]
