"""One program of somebody else on some boards: ``peer.py NAME BOARDS WORDS LIMIT`` prints JSON.

Runs in the environment of the programs and uses nothing of orderly.  BOARDS is a file with a board
a line, rows parted by ``/``, tiles by spaces; WORDS a word a line.  The answer has

    load_s    CPU seconds until the program has the words, without importing it
    boards    for each board how many seconds it took, and the words of three letters and more that
              it found, or the reason why not; the list ends early where LIMIT CPU seconds are over
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path

MOST_S = 5  # CPU seconds of this process for a board
Tiles = list[list[str]]
Finder = Callable[[Tiles], Iterable[str]]


def cpu_s() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def bogglesolver(words: list[str]) -> Finder:
    from bogglesolver.load_english_dictionary import Edict
    from bogglesolver.solve_boggle import SolveBoggle

    solver = SolveBoggle(use_test_words=True)
    solver.edict = Edict()
    for word in words:
        solver.edict.add_word(word)

    def find(board: Tiles) -> Iterable[str]:
        solver.set_board(len(board[0]), len(board), [tile for row in board for tile in row])
        return solver.solve()

    return find


def pyggle(words: list[str], *, official: bool = False) -> Finder:
    from pyggle import Boggle

    # a board is an object with a trie of its own: the trie is taken over from the first
    first = Boggle([["a", "b"], ["c", "d"]], words, official)

    def find(board: Tiles) -> Iterable[str]:
        if official:
            # a Qu tile is written q there
            board = [[tile[0] for tile in row] for row in board]
        solver = Boggle(board, ["abc"], official)
        solver.words, solver.trie = first.words, first.trie
        return solver.solve()

    return find


def pyggle_official(words: list[str]) -> Finder:
    return pyggle(words, official=True)


def boggled(words: list[str]) -> Finder:
    from boggled.boggle_board import BoggleBoard
    from boggled.boggle_solver import BoggleSolver
    from boggled.boggle_words import BoggleWords

    known = BoggleWords()
    known.iteratorPopulateTrie(words)

    def find(board: Tiles) -> Iterable[str]:
        text = ", ".join(tile for row in board for tile in row)
        solver = BoggleSolver(BoggleBoard(text), known)
        solver.solve()
        return solver.foundWords

    return find


def boggler(words: list[str]) -> Finder:
    from boggler.boggler_utils import BoggleBoard, build_full_boggle_tree

    folder = Path(tempfile.mkdtemp())
    for letter in "abcdefghijklmnopqrstuvwxyz":
        own = [word for word in words if word.startswith(letter)]
        (folder / f"words_{letter}.txt").write_text("\n".join(own))

    def find(board: Tiles) -> Iterable[str]:
        # 16 letters at most is what its command takes by default
        trees = build_full_boggle_tree(BoggleBoard(board, 16), folder)
        return [path[0] for tree in trees.values() for path in tree.word_paths]

    return find


def boggle_checker(words: list[str]) -> Finder:
    from boggle.boggle import boggle_checker as check

    def find(board: Tiles) -> Iterable[str]:
        if any(len(tile) > 1 for row in board for tile in row):
            raise ValueError("no tile of two letters")
        if len(board) != len(board[0]):
            raise ValueError("square boards only")
        found = []
        for word in words:
            with contextlib.redirect_stdout(io.StringIO()):
                if check(deepcopy(board), word):
                    found.append(word)
        return found

    return find


def boggle_solver(words: list[str]) -> Finder:
    import boggle_solver as package
    from boggle_solver.grid import Grid

    # it reads this file again for every beginning of a word
    own = Path(package.__file__).with_name("words.txt")
    own.write_text("".join(f"{word}\n" for word in words))

    def find(board: Tiles) -> Iterable[str]:
        grid = Grid([[tile.upper() for tile in row] for row in board])
        return [str(word) for word in grid.find_all_words()]

    return find


def boggleboard(words: list[str]) -> Finder:
    from boggleboard import RectangularBoggleBoard, Trie

    known = Trie(words)

    def find(board: Tiles) -> Iterable[str]:
        layout = [tile for row in board for tile in row]
        solver = RectangularBoggleBoard(len(board), len(board[0]), layout)
        return [str(word) for word in solver.findWords(known)]

    return find


def debian(words: list[str]) -> Finder:
    program = os.environ["DEBIAN_BOGGLE"]
    text = _front_coded(words)

    def find(board: Tiles) -> Iterable[str]:
        tiles = "".join(tile[0] for row in board for tile in row)
        if len(tiles) != 16:
            raise ValueError("4x4 only")
        command = [program, "-b", "-w", "3", tiles]
        done = subprocess.run(command, input=text, capture_output=True, check=True)
        return done.stdout.decode().split()

    return find


def _front_coded(words: list[str]) -> bytes:
    """Return words as that program reads them: after a byte that says how many letters are those
    of the word before, the other letters, with q for qu.
    """
    text, before = bytearray(), ""
    for word in sorted(word for word in words if word.count("q") == word.count("qu")):
        n = 0
        while n < min(len(word), len(before)) and word[n] == before[n]:
            n += 1
        text += bytes([n]) + word[n:].replace("qu", "q").encode()
        before = word
    return bytes(text)


PEERS = (
    bogglesolver, pyggle, pyggle_official, boggled, boggler, boggle_checker, boggle_solver,
    boggleboard, debian,
)  # fmt: skip


def main() -> None:
    """Solve the boards, and print what was found."""
    name, boards, listed, limit_s = sys.argv[1:]
    words = Path(listed).read_text().split()
    try:
        began = cpu_s()
        find = {peer.__name__: peer for peer in PEERS}[name](words)
    except Exception as error:  # noqa: BLE001  whatever a stranger's program raises
        _tell({"broken": f"{type(error).__name__}: {error}"})
        return
    load_s, answers = cpu_s() - began, []
    signal.signal(signal.SIGPROF, _give_up)
    began = cpu_s()
    for line in Path(boards).read_text().splitlines():
        board, before = [row.split() for row in line.split("/")], cpu_s()
        if before - began > float(limit_s):
            break
        signal.setitimer(signal.ITIMER_PROF, MOST_S)
        try:
            found = {word.lower() for word in find(board) if len(word) > 2}
            signal.setitimer(signal.ITIMER_PROF, 0)
            answers.append({"words": sorted(found), "s": cpu_s() - before})
        except Exception as error:  # noqa: BLE001  as above
            answers.append({"refused": f"{type(error).__name__}: {error}", "s": cpu_s() - before})
    _tell({"load_s": load_s, "boards": answers, "all_s": cpu_s() - began})


def _give_up(*_: object) -> None:
    raise TimeoutError(f"more than {MOST_S} CPU s for a board")


def _tell(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
