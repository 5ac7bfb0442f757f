"""Programs that solve boards, from the package index and Debian, on ten boards: docs/peers.md.

    python -m tests.field.peers [--python PYTHON] [--boggle PROGRAM] [--limit 60]

PYTHON has the packages of PACKAGES, PROGRAM is the boggle of Debian's bsdgames; without them both
are got in a temporary folder, by pip and by apt-get.  All of them get ENABLE2K, in one thread, one
after another; then 1,000 boards of rolled dice, as many as they do in so many CPU seconds.  What
is answered is kept in a file, and a program whose answer is there is not asked again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orderly_boggle.boardclass import load_wordlist
from orderly_boggle.boardclass.board import format_rows
from orderly_boggle.cluster.boards.dicesets import load_dice
from orderly_boggle.cluster.boards.rolling import roll
from orderly_boggle.search import solve
from tests.field import pages

PEER = Path(__file__).with_name("peer.py")
DEBIAN = ("bsdgames", "2.17-29+b1")
PACKAGES = (
    "bogglesolver==0.0.1",
    "pyggle==1.2.0",
    "boggled==1.0.0",
    "boggler==2.0.4",
    "boggle-checker==0.1",
    "boggle-solver==1.1",
    "boggleboard==1.0.5",
)
N_TIMED = 1000


class Board(NamedTuple):
    board: str
    dims: str
    why: str


BOARDS = (
    Board("perslatgsineters", "4x4", "the most points"),
    Board("gesorntreaieslps", "4x4", "the most words"),
    Board("rpqaselinifcoita", "4x4", "a word of 17 letters over all cells"),
    Board("tsadorinqeleents", "4x4", "Qu as the third tile of words"),
    Board("qaesirloestntndi", "4x4", "Qu in a corner"),
    Board("qqeeiittaassrrnn", "4x4", "two Qu"),
    Board("zzzzzzzzzzzzzzzz", "4x4", "no word"),
    Board("berlatdes", "3x3", "smaller"),
    Board("dgntsseaierplrd", "3x5", "not square"),
    Board("ligdrmanesietildsracsepes", "5x5", "larger"),
)


class Peer(NamedTuple):
    """A program: its name in peer.py, its name and version, what it is, in words."""

    name: str
    package: str
    told: str


PEERS = (
    Peer("bogglesolver", "bogglesolver 0.0.1", "a trie; tiles of any length; a list of its own"),
    Peer("pyggle", "pyggle 1.2.0", "a trie; tiles are letters or texts; points, by its own table"),
    Peer("pyggle_official", "pyggle 1.2.0, `official=True`", "the same; q is to stand for Qu"),
    Peer("boggled", "boggled 1.0.0", "a trie, from prefixes of three tiles; tiles of two letters"),
    Peer("boggler", "boggler 2.0.4", "a tree for each cell, in a process each; a file a letter"),
    Peer("boggle_checker", "boggle-checker 0.1", "asks whether one word is on a square board"),
    Peer("boggle_solver", "boggle-solver 1.1", "reads its list from the disk for every beginning"),
    Peer("boggleboard", "boggleboard 1.0.5", "a trie; also toroidal and hexagonal boards; of 2010"),
    Peer("debian", f"boggle of {' '.join(DEBIAN)}", "the game; `-b` solves a 4x4 board"),
)


def rows_of(board: str, dims: str) -> str:
    """Return a board as peer.py reads it."""
    rows = format_rows(board, dims)
    return " / ".join(" ".join(tile.lower() for tile in row) for row in rows)


def _typed(item: Board) -> str:
    """Return a board as people type its rows."""
    return "/".join("".join(row) for row in format_rows(item.board, item.dims))


def debian_boggle(folder: Path) -> Path:
    """Get Debian's program into a folder, without installing it."""
    name, version = DEBIAN
    get = ["apt-get", "download", f"{name}={version}"]
    subprocess.run(get, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg", "-x", package, folder], check=True)
    return folder / "usr/games/boggle"


def answer_of(
    peer: str, boards: Sequence[str], listed: Path, limit_s: float, python: Path, boggle: Path
) -> dict[str, Any]:
    """Return what a program says of some boards."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{board}\n" for board in boards))
        file.flush()
        command = [python, PEER, peer, file.name, listed, str(limit_s)]
        environment = {**os.environ, "DEBIAN_BOGGLE": str(boggle)}
        done = subprocess.run(
            [*map(str, command)], env=environment, capture_output=True, text=True, check=True
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def verdict(answer: dict[str, Any], truth: list[set[str]]) -> tuple[str, str]:
    """Return on how many boards a program is right, and what is wrong on the others."""
    if "broken" in answer:
        return "0", f"cannot be used: {answer['broken']}"
    refused: Counter[str] = Counter()
    right, wrong = 0, []
    for asked, found, words in zip(BOARDS, answer["boards"], truth, strict=True):
        if "refused" in found:
            refused[found["refused"]] += 1
            continue
        own = set(found["words"])
        if own == words:
            right += 1
            continue
        # the shortest, then the first of the alphabet: the order of a set differs from run to run
        lacks = sorted(words - own, key=lambda word: (len(word), word))
        has = sorted(own - words)
        text = f"`{asked.board}` ({asked.why}): {len(own & words):,} of {len(words):,} words"
        if lacks:
            text += f", not *{lacks[0]}*"
        if has:
            text += f", and {len(has):,} that are not there, such as *{has[0]}*"
        wrong.append(text)
    wrong += [f"{n} of 10 not taken: {reason}" for reason, n in refused.items()]
    return str(right), "; ".join(wrong)


def timed(answer: dict[str, Any]) -> str:
    """Return how long 1,000 boards take."""
    if "broken" in answer:
        return ""
    done = [item for item in answer["boards"] if "refused" not in item]
    if not done:
        return ""
    if len(done) == N_TIMED:
        return f"{answer['load_s'] + answer['all_s']:,.1f}"
    each = answer["all_s"] / len(answer["boards"])
    return f"{each * N_TIMED + answer['load_s']:,.0f} (from {len(answer['boards']):,})"


def orderly_s(boards: Sequence[str]) -> float:
    """Return the CPU seconds of ``orderly score`` on these boards, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "from orderly_boggle.cluster.cli.start import main; main()"
    command = [sys.executable, "-c", code, "score", "-w", "enable2k", "--format", "csv"]
    text = "".join(f"{board}\n" for board in boards)
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Ask all of them, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", type=Path, help="of an environment with the packages")
    parser.add_argument("--boggle", type=Path, help="the program of Debian")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds for 1,000 boards")
    parser.add_argument("--results", type=Path, default=Path("build/peers.jsonl"))
    given = parser.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, list[str]] = {}
    if given.results.exists():
        for line in given.results.read_text().splitlines():
            known |= json.loads(line)
    words = list(load_wordlist("enable2k").words)
    people = sorted(word.replace("q", "qu") for word in words)
    truth = [set(solve(_typed(item), people)) for item in BOARDS]
    dice, rng = load_dice("classic").dice, random.Random(1)
    rolled = [roll(dice, rng) for _ in range(N_TIMED)]
    rows = []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        python = given.python or pages.environment(folder / "env", PACKAGES)
        boggle = given.boggle or debian_boggle(folder)
        listed = folder / "words.txt"
        listed.write_text("".join(f"{word}\n" for word in people))
        many = [rows_of(board, "4x4") for board in rolled]
        for peer in PEERS:
            if peer.name in known:
                rows.append([peer.package, peer.told, *known[peer.name]])
                continue
            pages.say(peer.package)
            ten = [rows_of(item.board, item.dims) for item in BOARDS]
            ask = [python.absolute(), boggle.absolute()]
            right, wrong = verdict(answer_of(peer.name, ten, listed, 10**6, *ask), truth)
            time_s = timed(answer_of(peer.name, many, listed, given.limit, *ask))
            rows.append([peer.package, peer.told, right, wrong, time_s])
            with given.results.open("a") as file:
                file.write(json.dumps({peer.name: rows[-1][2:]}) + "\n")
    own = [orderly_s(rolled) for _ in range(2)][-1]
    own_row = ["**orderly**", "`orderly score`, its start included", "10", "", f"{own:.1f}"]
    head = ("program", "what it is", "right, of 10", "what is wrong", "1,000 boards, CPU s")
    boards = []
    for item, on_it in zip(BOARDS, truth, strict=True):
        boards.append([f"`{item.board}`", item.dims, item.why, f"{len(on_it):,}"])
    tables = {
        "boards": pages.table(("board", "size", "why", "words"), boards),
        "peers": pages.table(head, [own_row, *rows]),
        "made": f"Made at commit {pages.commit()}.",
    }
    pages.fill("peers.md", tables)


if __name__ == "__main__":
    main()
