"""Breaks the ten whole 4x4 classes that hold the 32 published boards: all of them must come back,
and no other board.

    python -m tests.bench.golden [FILE]          # a quarter of an hour of one core; a line per
                                                 class

FILE is the published list, ``BOARD: SCORE`` a line.  Exit code 1 when something is missing or there
is one more.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.cluster.boards.comparison import read_boards
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.search.breaker import Breaker, Unit
from tests.classes import canonical_rank, rank_of_board

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "best-4x4-enable2k-3500.txt"


def main() -> int:
    """Break the classes, say what each gave, compare."""
    config = load_config(
        "4x4", {"wordlist": "enable2k", "cutoff": 3500, "search": {"unit_budget": 2**61}}
    )
    breaker = Breaker(make_plan(config).spec)
    cut, board_of = breaker.partition, breaker.geometry
    listed = read_boards(sys.argv[1] if sys.argv[1:] else str(GOLDEN), board_of)
    found: dict[str, int] = {}
    for class_id in sorted({canonical_rank(cut, rank_of_board(cut, board)) for board in listed}):
        began = time.process_time()
        result = breaker.break_unit(Unit(class_id))
        boards = {canonical_board(board, board_of): score for board, score in result.candidates}
        found |= boards
        kinds = zip(cut.class_letters(class_id), board_of.cell_types, strict=True)
        centre = " ".join(letters for letters, kind in kinds if kind == "center")
        counters = f"{result.counters['n_terms']:,} terms, {result.counters['n_pushes']:,} pushes"
        seconds = time.process_time() - began
        sys.stdout.write(
            f"class {class_id} ({centre}): {len(boards)} boards, {seconds:.0f} s, {counters}\n"
        )
        sys.stdout.flush()
    missing = listed.keys() - found.keys()
    more = found.items() - listed.items()
    sys.stdout.write(
        f"{len(found)} of {len(listed)} boards, missing {sorted(missing)}, more {sorted(more)}\n"
    )
    return 1 if missing or more else 0


if __name__ == "__main__":
    sys.exit(main())
