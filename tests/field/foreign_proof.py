"""Verdicts of a published run by foreign software: toulbar2 lists, the scorer scores.

    python -m tests.field.foreign_proof [CLASS] [--run 3x3-enable2k] [--python PYTHON]

CLASS has a group of letters for each cell.  toulbar2 lists all boards of it whose multi-score
reaches the cutoff of the run, from a file of terms that neither the search nor its bounds have
touched, and proves in its own way that there are no others.  The multi-score is never below the
score, so the boards among them that score as much as the cutoff are all that the class has.  They
must be those that the run lists, with their images.  PYTHON has pytoulbar2; without it an
environment is made for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from string import ascii_lowercase

from orderly_boggle import results
from orderly_boggle.boardclass import load_wordlist
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores, reaches
from orderly_boggle.search import Scorer
from orderly_boggle.search.class_bounds import walk_class
from orderly_boggle.search.models import cfn_lines
from tests.field import pages
from tests.field.ask import __file__ as ask

PAPER = "lnrsy chkmpt lnrsy aeiou aeiou aeiou chkmpt lnrsy bdfgjvwxz"
PACKAGE = "pytoulbar2==1.4.0.1"
LIMIT_S = 1500


def listed_by_toulbar2(
    letters: list[str], scorer: Scorer, cutoff: int, python: Path, folder: Path
) -> tuple[list[str], float]:
    """Return all boards whose multi-score reaches the cutoff, and the CPU seconds that it took."""
    model, boards = folder / "class.cfn", folder / "boards.txt"
    terms = walk_class(letters, scorer).terms
    model.write_text("".join(f"{line}\n" for line in cfn_lines(terms, letters, "class")))
    given = [str(LIMIT_S), f"above={cutoff - 1}", f"out={boards}"]
    command = [python, ask, "toulbar2", model, *given]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["status"] != "optimal":
        raise SystemExit(f"toulbar2 has proved nothing in {LIMIT_S} s: {answer}")
    return boards.read_text().split(), answer["cpu_s"]


def of_the_run(letters: list[str], run: results.Run) -> dict[str, int]:
    """Return the boards of the class that a run lists, with every image of each."""
    found, rows = {}, geometry(run.question.dims).symmetries.tolist()
    for item in results.boards(run):
        for row in rows:
            image = "".join(item.board[cell] for cell in row)
            if all(x in group for x, group in zip(image, letters, strict=True)):
                found[image] = item.score
    return found


def main() -> None:
    """List, score and compare; exit code 1 if the run lists other boards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("letters", nargs="?", default=PAPER, metavar="CLASS")
    parser.add_argument("--run", default="3x3-enable2k")
    parser.add_argument("--python", type=Path, help="of an environment with pytoulbar2")
    given = parser.parse_args()
    run = results.open_run(given.run)
    letters = given.letters.replace("*", ascii_lowercase).split()
    words = load_wordlist(given.run.partition("-")[2]).words
    scorer = Scorer(run.question.dims, words, parse_scores("standard"))
    cutoff = run.question.cutoff
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        python = given.python or pages.environment(folder / "env", [PACKAGE])
        boards, used_s = listed_by_toulbar2(letters, scorer, cutoff, python, folder)
    exact = dict(zip(boards, scorer.scores(boards).tolist(), strict=True)) if boards else {}
    reaching = {board: score for board, score in exact.items() if reaches(score, cutoff)}
    expected = of_the_run(letters, run)
    lines = [f"{board} {score}" for board, score in sorted(reaching.items(), key=lambda x: -x[1])]
    n = 1
    for group in letters:
        n *= len(group)
    same = "the same as" if reaching == expected else f"DIFFERENT from the {len(expected):,} of"
    lines.append(
        f"in all: of {n:,} boards toulbar2 lists {len(boards):,} with a multi-score of {cutoff} or "
        f"more, in {used_s:,.0f} CPU s; {len(reaching):,} of them score as much, {same} {given.run}"
    )
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    raise SystemExit(reaching != expected)


if __name__ == "__main__":
    main()
