"""How often each method of climbing finds the best known board, and at what cost.

    python -m tests.field.climbs --dims 5x5 --wordlist enable2k --best 10406 --method anneal
        [--pool 500] [--runs N] [--seeds 0 4] [--until-found] [--limit 2.5] [--results FILE]

One thread.  A search ends by itself, with --until-found when it has the board, and after the CPU
minutes of --limit.  For every seed a line: the best score and board, how often it was found
(chains of annealing, runs of other methods), CPU minutes and boards scored.  The last line is the
rate: a share p of searches that cost c each finds the board, so half of those who spend
c * log(1/2) / log(1 - p) find it.  With --results lines are kept there, and seeds that it has are
not searched again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orderly_boggle.boardclass import load_wordlist
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search import Scorer, local_search
from orderly_boggle.search.local.methods import METHODS, Climbing
from tests.field.pages import commit


def rate(found: Sequence[bool], minutes: Sequence[float]) -> str:
    """Return how often the board was found, and the CPU minutes to half of the searches.

    >>> rate([True, False], [3.0, 5.0]), rate([False], [3.0])
    ('1 of 2, 4.0 min each: 4.0 min', '0 of 1, 3.0 min each')
    """
    hits, n = sum(found), len(found)
    each = sum(minutes) / n
    text = f"{hits} of {n}, {each:.1f} min each"
    if not hits:
        return text
    # all of few: as if one half of a search more had missed it
    share = hits / n if hits < n else n / (n + 0.5)
    return f"{text}: {each * math.log(0.5) / math.log(1 - share):.1f} min"


def search_once(scorer: Scorer, asked: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return what one search finds: the best board and score, how often it was found, CPU minutes,
    boards scored.
    """
    options = {name: asked[name] for name in ("pool", "runs") if asked[name]}
    n_scored: dict[int, int] = {}
    best_so_far = 0

    def note(now: Climbing) -> None:
        nonlocal best_so_far
        n_scored[now.run] = now.n_scored
        best_so_far = now.best

    began = time.process_time()

    def is_over() -> bool:
        used_min = (time.process_time() - began) / 60
        if asked["limit"] and used_min > asked["limit"]:
            return True
        return asked["until_found"] and best_so_far >= asked["best"]

    found = local_search(scorer, asked["method"], seed=seed, progress=note, stop=is_over, **options)
    best = found[0]
    minutes = (time.process_time() - began) / 60
    return {**best._asdict(), "minutes": round(minutes, 3), "n_scored": sum(n_scored.values())}


def main() -> None:
    """Search with every seed, and print the rate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dims", default="5x5")
    parser.add_argument("--wordlist", default="enable2k")
    parser.add_argument("--method", choices=METHODS, default="pool")
    parser.add_argument("--best", type=int, required=True, help="score of the best known board")
    parser.add_argument("--pool", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 4), metavar=("FIRST", "LAST"))
    parser.add_argument("--until-found", action="store_true")
    parser.add_argument("--limit", type=float, metavar="MINUTES")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    names = ("dims", "wordlist", "method", "best", "pool", "runs", "until_found", "limit")
    asked = {name: getattr(given, name) for name in names}
    known = []
    if given.results and given.results.exists():
        known = [json.loads(line) for line in given.results.read_text().splitlines()]
    words = load_wordlist(given.wordlist).words
    scorer = Scorer(given.dims, words, parse_scores("standard"))
    scorer.scores(["a" * scorer.geometry.n])  # compiles
    found, minutes = [], []
    for seed in range(given.seeds[0], given.seeds[1] + 1):
        own = asked | {"seed": seed}
        answers = [line for line in known if {name: line.get(name) for name in own} == own]
        if not answers:
            answers = [own | search_once(scorer, asked, seed) | {"commit": commit()}]
            if given.results:
                with given.results.open("a") as file:
                    file.write(json.dumps(answers[0]) + "\n")
        answer = answers[0]
        found.append(answer["score"] >= given.best)
        minutes.append(answer["minutes"])
        times, n_scored = answer["n_found"], answer["n_scored"]
        line = f"seed {seed}: {answer['score']:,} {answer['board']} found {times} times, "
        sys.stdout.write(f"{line}{minutes[-1]:.2f} min, {n_scored:,} boards\n")
        sys.stdout.flush()
    sys.stdout.write(f"{given.dims} {given.wordlist} {given.method}: {rate(found, minutes)}\n")


if __name__ == "__main__":
    main()
