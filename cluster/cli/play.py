"""``orderly play``: find the words of a board, in this terminal or on a page that is one file."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable, Container, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.printable import counted, duration, printable
from orderly_boggle.cluster.answers.render import draw_board
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import numeric, option
from orderly_boggle.cluster.streams import console, say, write_file

if TYPE_CHECKING:
    from orderly_boggle.cluster.boards.scoring import Scoring, Solved


@options.grouped
def play(
    rules: options.DiceRules,
    dice: options.Dice = "new",
    minutes: Annotated[float, numeric("Minutes to play; 0: no limit.", min=0, max=600)] = 3.0,
    goal: Annotated[
        int,
        numeric("Words to find; the board has at least as many common words.", min=0, max=500),
    ] = 20,
    seed: options.RollSeed = None,
    out: Annotated[
        str | None, option("Write a page to play on that needs no network.", metavar="FILE.html")
    ] = None,
) -> None:
    """Roll a board and find its words; the answers come at the end.

    Type one word per line, ? for a hint; an empty line ends the game.  Common words are those of
    SCOWL up to size 35; in a list that is not English all words count as common.
    """
    if out is not None and not out.endswith(".html"):
        raise InputError(f"--out {quote(out)}: expected the name of a page, such as game.html")
    from orderly_boggle.cluster.boards.dicesets import load_dice
    from orderly_boggle.cluster.boards.scoring import rolled

    box = load_dice(dice)
    scoring = rules.scoring(box.scores)
    if seed is None:
        seed = random.randrange(2**32)
    (board,) = rolled(scoring, box, random.Random(seed), min_words=goal, common=True)
    solved = scoring.solve(board)
    if out is not None:
        from orderly_boggle.cluster.web.board_page import Game, board_page

        game = Game(minutes, scoring.table.least, goal)
        page = board_page(scoring.described(board, solved), hidden=True, game=game)
        say(f"{write_file(Path(out), page.encode())}: seed {seed}")
        return
    console().print(draw_board(solved.rows))
    uncounted = set(scoring.uncounted(board, solved))
    refusal = partial(scoring.refusal, uncounted=uncounted)
    hints = Hints(solved, scoring.common(solved.words))
    on_board = {item.word for item in solved.words} | uncounted
    as_listed = partial(scoring.as_listed, words=on_board)
    caught = _caught(solved, minutes, goal, as_listed, refusal, hints)
    _tell_end(scoring, solved, caught, goal)


class Hints:
    """Says where a word begins that is still to be found, and one tile more of it when asked again.

    The short ones that most people know come first.
    """

    def __init__(self, solved: Solved, common: Sequence[str]) -> None:
        known = set(common)
        self._words = sorted(solved.words, key=lambda item: (item.word not in known, item.letters))
        self._rows = solved.rows
        self._last = ""  # the word that the last hint was about
        self._n = 0  # its tiles that are shown

    def next(self, caught: Container[str]) -> str:
        """Return a hint, given what was found."""
        left = [item for item in self._words if item.word not in caught]
        if not left:
            return "every word is found"
        item = left[0]
        if item.word == self._last:
            self._n = min(self._n + 1, len(item.path))
        else:
            self._n = 1
        self._last = item.word
        places = []
        for cell in item.path[: self._n]:
            column, row = divmod(cell, len(self._rows))
            places.append((row, column))
        faces = [self._rows[row][column] for row, column in places]
        begin = "".join(faces).lower()
        row, column = places[0]
        where = f"row {row + 1}, column {column + 1}"
        return f"{counted(item.letters, 'letter')}, beginning with {begin} in {where}"


def _caught(
    solved: Solved,
    minutes: float,
    goal: int,
    as_listed: Callable[[str], str],
    refusal: Callable[[str], str],
    hints: Hints,
) -> set[str]:
    """Ask for words until the time is up, the input ends or a line is empty; return those that are
    on the board.  ``as_listed`` spells a word as the list does, and ``refusal`` says why one is
    worth nothing.
    """
    points = {item.word: item.points for item in solved.words}
    caught: set[str] = set()
    aim = f"Find {counted(goal, 'word')}" if goal else "Find what you can"
    limit = f" in {duration(60 * minutes)}" if minutes else ""
    say(f"{aim}{limit}; ? gives a hint, an empty line ends.")
    signal.signal(signal.SIGALRM, _end)
    try:
        signal.setitimer(signal.ITIMER_REAL, 60 * minutes)  # 0: never
        for line in sys.stdin or ():
            typed = printable(line.strip().lower())
            if not typed:
                break
            word = as_listed(typed)
            if word == "?":
                say(f"hint: {hints.next(caught)}")
            elif word in caught:
                say(f"{word}: found before")
            elif word in points:
                caught.add(word)
                say(f"{word}: {counted(points[word], 'point')}; {counted(len(caught), 'word')}")
            else:
                say(f"{word}: {refusal(word)}")
    except TimeoutError:
        say("Time is up.")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return caught


def _end(*_: object) -> None:
    raise TimeoutError


def _tell_end(scoring: Scoring, solved: Solved, caught: set[str], goal: int) -> None:
    score = sum(item.points for item in solved.words if item.word in caught)
    all_words = counted(len(solved.words), "word")
    end = f"{len(caught):,} of {all_words}, {counted(score, 'point')}"
    if goal:
        reached = "is not reached"
        if len(caught) >= goal:
            reached = "is reached"
        end += f"; the goal of {goal:,} {reached}"
    say(f"{end}.", "bold")
    common = set(scoring.common(solved.words))
    missed = [item.word for item in solved.words if item.word not in caught]
    known = [word for word in missed if word in common]
    others = [word for word in missed if word not in common]
    if known:
        say(f"Missed, and most people know: {', '.join(known)}")
    if others:
        say(f"Missed: {', '.join(others)}")
