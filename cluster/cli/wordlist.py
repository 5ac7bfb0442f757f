"""``orderly wordlist``: list, check, import and get."""

import contextlib
import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import n_letters
from orderly_boggle.boardclass.word_entries import read_entries
from orderly_boggle.boardclass.word_files import MAX_FILE_BYTES
from orderly_boggle.boardclass.word_forms import FORMS
from orderly_boggle.boardclass.word_import import (
    Imported,
    ImportRules,
    import_words,
    judge_stems,
    parse_letters,
)
from orderly_boggle.boardclass.wordlist import (
    Source,
    WordList,
    available_names,
    default_search_paths,
    known_name,
    load_wordlist,
    parse_wordlist,
    sources,
    user_folder,
)
from orderly_boggle.cluster.answers.render import Format, write_json, write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.examples import example_of
from orderly_boggle.cluster.cli.options import argument, option
from orderly_boggle.cluster.streams import moving, say, write_file

TIMEOUT_S = 30
wordlist = typer.Typer(
    name="wordlist",
    help="List, check, import and download word lists.",
    no_args_is_help=True,
    epilog=example_of("wordlist"),
    add_completion=False,
    rich_markup_mode=None,
)


@wordlist.command("list", epilog=example_of("wordlist list"))
def list_all(fmt: options.Format = "table") -> None:
    """List the word lists that can be named, and how to get others."""
    rows: list[tuple[object, ...]] = []
    for name, path in available_names().items():
        try:
            words = load_wordlist(path, plain_q=None)
            sha256 = words.sha256
            rows.append((name, len(words.words), sha256[:16], known_name(sha256), str(path)))
        except WordListError as error:
            rows.append((name, None, None, None, f"unusable: {error}"))
    here = {row[0] for row in rows}
    for name, source in sources().items():
        if name not in here:
            if source.url:
                how = f"orderly wordlist get {name}"
            else:
                how = source.note
            rows.append((name, None, source.sha256[:16], name, how))
    write_table(("name", "words", "sha256", "known_as", "file"), rows, fmt)


@wordlist.command("check", epilog=example_of("wordlist check"))
def check(
    file: Annotated[
        str,
        argument("FILE|NAME", "A word list.", autocompletion=options.complete_wordlists),
    ],
    fmt: options.Format = "table",
) -> None:
    """Count the words of a list and the lines left out.

    If the file is not a word list, say what import would make of it.
    """
    path = Path(file)
    is_file = False
    with contextlib.suppress(OSError):  # a name may be longer than that of a file
        is_file = path.is_file()
    try:
        words = load_wordlist(path if is_file else file, plain_q=None)
    except WordListError:
        if is_file:
            _tell(
                import_words(read_entries(path), ImportRules(), path.name.partition(".")[0], file),
                fmt,
                "would have",
            )
        raise
    write_record(
        {
            "name": words.name,
            "n_lines": words.n_lines,
            "n_words": len(words.words),
            "longest": max(map(n_letters, words.words)),
            **{reason.replace(" ", "_"): count for reason, count in words.counts.items()},
            "sha256": words.sha256,
            "known_as": known_name(words.sha256),
        },
        fmt,
    )


@wordlist.command("import", epilog=example_of("wordlist import"))
def import_file(
    file: Annotated[
        str,
        argument(
            "FILE",
            "Words: one per line, columns, CSV, JSON, XML, a spelling dictionary (.dic with its "
            ".aff), the index of a dictionary; gz, bz2, xz or zip.",
        ),
    ],
    name: Annotated[
        str | None, option("Name of the new list.", show_default="that of the file")
    ] = None,
    names: Annotated[
        str, option("Words with a capital letter; keep them for German.", metavar="drop|keep")
    ] = "drop",
    accents: Annotated[
        str,
        option(
            "fold: é becomes e; drop: leave the word out; keep: é is a letter.",
            metavar="fold|drop|keep",
        ),
    ] = "fold",
    letter: Annotated[
        list[str] | None,
        option("A separate letter, represented by one of a-z, such as ñ=w.", metavar="L=X"),
    ] = None,
    plain_q: Annotated[bool, option("The game has a plain Q, not Qu.", "--plain-q")] = False,
    column: Annotated[
        str | None,
        option(
            "Column of the words, JSON key or XML element; all: every cell; keys, values: those of "
            "a JSON object.",
            metavar="NAME|N|all|keys|values",
            show_default="that of a heading such as word, or the first one without numbers",
        ),
    ] = None,
    form: Annotated[
        str | None,
        option(
            "What the file is, where it does not say so itself.",
            metavar="|".join(FORMS),
            show_default="told by all its lines",
        ),
    ] = None,
    encoding: Annotated[
        str | None, option("Encoding, such as ISO-8859-2.", show_default="guessed and reported")
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Make a word list from a file, and say what was done to its lines."""
    path = Path(file).expanduser()
    rules = ImportRules(names, accents, parse_letters(letter or []), plain_q)
    if name is None:
        name = path.name.partition(".")[0]
    if not name or any(c in name for c in "./\\\0") or not name.isprintable():
        raise WordListError(
            f"a word list cannot be called {quote(name)}: give another, --name NAME"
        )
    judge = partial(judge_stems, rules=rules, source=file)
    with moving(1.0) as move:
        move(f"reading {path.name}", 0.0)
        entries = read_entries(path, encoding, column, form, judge=judge, move=move)
        imported = import_words(entries, rules, name, file, move)
    target = user_folder() / f"{name}.txt"
    meant = _meant_before(target.parent, name) or target
    if meant.exists() and load_wordlist(meant, plain_q=None) != imported.words:
        raise WordListError(
            f"{quote(str(meant))} is another list: remove it, or give another name, --name NAME"
        )
    _keep(target, imported.text.encode())
    _tell(imported, fmt, "has", target)


def _meant_before(folder: Path, name: str) -> Path | None:
    """Return the file that a name means whatever lists are in a folder: another folder comes first,
    which $ORDERLY_WORDLISTS names.
    """
    folders = default_search_paths()
    path = available_names().get(name)
    if path and folders.index(path.parent) < folders.index(folder):
        return path
    return None


def _tell(imported: Imported, fmt: Format, verb: str, target: Path | None = None) -> None:
    words = imported.words
    if fmt == "json":
        steps = [step._asdict() for step in imported.steps]
        values = {
            "name": words.name,
            "n_words": len(words),
            "sha256": words.sha256,
            "notes": imported.notes,
        }
        write_json({**values, "file": target and str(target), "steps": steps})
        return
    rows = [(step.lines, step.what, step.example) for step in imported.steps]
    write_table(("lines", "what", "example"), rows, fmt)
    if fmt == "table":
        for note in imported.notes:
            say(note)
        use = ""
        if target:
            use = f"; use it: -w {shlex.quote(words.name)}"
        say(f"the list {verb} {counted(len(words), 'word')}, SHA-256 {words.sha256[:16]}{use}")


@wordlist.command("get", epilog=example_of("wordlist get"))
def get(
    name: Annotated[
        str,
        argument(
            "NAME", "Such as enable2k or yawl.", autocompletion=options.complete_known_wordlists
        ),
    ],
    url: Annotated[
        str | None, option("Another place to download it from.", show_default="the documented one")
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Download a known word list.  It is kept only if its SHA-256 is the known one."""
    known = sources()
    if name not in known:
        loadable = ", ".join(source for source, item in known.items() if item.url)
        raise WordListError(
            f"unknown word list {quote(name)}: expected one of {loadable}; others by path, ./FILE"
        )
    source = known[name]
    if not (url or source.url):
        raise WordListError(
            f"{name} ({source.title}) cannot be downloaded: {source.note}; then {source.command}"
        )
    data = download(url or source.url)
    if source.upper:
        data = data.lower()
    words = _checked(source, data, url or source.url)
    target = user_folder() / f"{name}.txt"
    _keep(target, data)
    record = {"name": name, "n_words": len(words.words), "sha256": words.sha256}
    write_record({**record, "file": str(target)}, fmt)


def _checked(source: Source, data: bytes, where: str) -> WordList:
    """Return a known list that was downloaded. Raises WordListError when it is another one."""
    try:
        words = parse_wordlist(data, "download", where)
    except WordListError as error:
        raise WordListError(
            f"{quote(where, 200)} is not {source.name}: no list of words a-z; not kept"
        ) from error
    if words.sha256 != source.sha256:
        raise WordListError(
            f"{quote(where, 200)} has SHA-256 {words.sha256}, {source.name} has {source.sha256}: "
            "not kept"
        )
    return words


def download(url: str) -> bytes:
    """Return what an http or https address holds. Raises WordListError when it is out of reach or
    too large.
    """
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    hint = "fetch it in another way, then orderly wordlist import FILE"
    if not url.startswith(("https://", "http://")):
        raise WordListError(f"{quote(url)} is not an http or https address; {hint}")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            data: bytes = answer.read(MAX_FILE_BYTES + 1)
    except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError
        if isinstance(error, urllib.error.URLError):
            reason = error.reason
        else:
            reason = error
        raise WordListError(
            f"cannot download {quote(url, 200)}: {reason}; is there a network? Or {hint}"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise WordListError(
            f"{quote(url, 200)} has more than {MAX_FILE_BYTES // 2**20} MiB: it is not a word list"
        )
    return data


def _keep(target: Path, data: bytes) -> None:
    """Write a file into the folder of the user's lists, which is made first."""
    with contextlib.suppress(OSError):  # write_file says why
        target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, data)
