"""The word list of a run: the one that it recorded, or the same one from elsewhere.

>>> from orderly_boggle.results.store.run import open_run
>>> run_wordlist(open_run("runs/2x2-scowl70-14")).name
'scowl70'
"""

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.wordlist import WordList, load_wordlist
from orderly_boggle.results.errors import FingerprintError
from orderly_boggle.results.store.run import Run


def run_wordlist(run: Run, name: str | None = None) -> WordList:
    """Return the word list of a run: the one recorded, or the one named, if it is the same.

    Raises InputError when it cannot be found or read, FingerprintError when it is another list.
    """
    recorded = run.made.words.source
    if not (name or recorded):
        raise InputError(
            f"{run.folder.where('')} does not say which word list it used: name it with --wordlist"
        )
    try:
        words = load_wordlist(name or recorded)
    except InputError as error:
        raise InputError(f"{error}; --wordlist names another place") from error
    if words.sha256 != run.question.words_sha256:
        raise FingerprintError(
            f"word list {words.name!r} has SHA-256 {words.sha256}, the run in "
            f"{run.folder.where('')} used {run.question.words_sha256}: name the list it "
            "used with --wordlist"
        )
    return words
