"""``orderly wordlist list``, ``check`` and ``get``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from boardclass.errors import WordListError, quote
from boardclass.wordlist import (
    KNOWN_SHA256,
    MAX_FILE_BYTES,
    WordList,
    available_names,
    known_name,
    load_wordlist,
    parse_wordlist,
    user_folder,
)
from cluster.answers.render import Format, write_record, write_table
from cluster.cli.group import Whole
from cluster.cli.options import FormatOption, complete_known_wordlists, complete_wordlists
from configs.sources import Source, sources

TIMEOUT_S = 30
wordlist = typer.Typer(
    name="wordlist",
    cls=Whole,
    help="List, check and download word lists.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@wordlist.command("list")
def wordlist_list(fmt: FormatOption = Format.table) -> None:
    """List the word lists that can be named, and how to get the other well-known ones."""
    known = sources()
    rows: list[tuple[object, ...]] = []
    for name, path in available_names().items():
        try:
            words = load_wordlist(path)
            rows.append((name, len(words.words), words.sha256[:16], known_name(words.sha256), str(path)))
        except WordListError as error:
            rows.append((name, None, None, None, f"unusable: {error}"))
    here = {row[0] for row in rows}
    for name, source in known.items():
        if name not in here:
            how = f"orderly wordlist get {name}" if source.url else source.note
            rows.append((name, None, KNOWN_SHA256[name][:16], name, how))
    write_table(("name", "words", "sha256", "known_as", "file"), rows, fmt)


@wordlist.command("check")
def wordlist_check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="One word a line.",
            show_default=False,
            autocompletion=complete_wordlists,
        ),
    ],
    fmt: FormatOption = Format.table,
) -> None:
    """Count usable words and lines left out by reason; say whether it is a known list."""
    words = load_wordlist(Path(file) if Path(file).is_file() else file)
    write_record(
        {
            "name": words.name,
            "n_lines": words.n_lines,
            "n_words": len(words.words),
            "longest": max(map(words.n_letters, words.words)),
            **{reason.replace(" ", "_"): count for reason, count in words.counts.items()},
            "sha256": words.sha256,
            "known_as": known_name(words.sha256),
        },
        fmt,
    )


@wordlist.command("get")
def wordlist_get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Such as enable2k or yawl.",
            show_default=False,
            autocompletion=complete_known_wordlists,
        ),
    ],
    url: Annotated[
        str | None, typer.Option("--url", help="Another place to take it from.", show_default="the documented one")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Download a known word list; it is kept only if its SHA-256 is the known one."""
    known = sources()
    if name not in known:
        loadable = ", ".join(source for source, item in known.items() if item.url)
        raise WordListError(f"unknown word list {quote(name)}: expected one of {loadable}; others by path, ./FILE")
    source = known[name]
    if not (url or source.url):
        raise WordListError(f"{name} ({source.title}) cannot be downloaded: {source.note}")
    target = user_folder() / f"{name}.txt"
    data = download(url or source.url)
    words = accept(data, source, url or source.url)
    _publish(target, data.lower() if source.upper else data)
    write_record({"name": name, "n_words": len(words.words), "sha256": words.sha256, "file": str(target)}, fmt)


def download(url: str) -> bytes:
    """Return what an http or https address holds.

    Raises
    ------
    WordListError
        When it is out of reach or too large.
    """
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    hint = "fetch it in another way, then check it: orderly wordlist check FILE"
    if not url.startswith(("https://", "http://")):
        raise WordListError(f"{quote(url)} is not an http or https address; {hint}")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            data: bytes = answer.read(MAX_FILE_BYTES + 1)
    except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise WordListError(f"cannot download {quote(url, 200)}: {reason}; is there a network? Or {hint}") from error
    if len(data) > MAX_FILE_BYTES:
        raise WordListError(f"{quote(url, 200)} has more than {MAX_FILE_BYTES // 2**20} MiB: it is not a word list")
    return data


def accept(data: bytes, source: Source, url: str) -> WordList:
    """Return the list in the downloaded bytes if it is the known one of that name.

    Raises
    ------
    WordListError
        If it is another list, or not a word list at all.
    """
    words = parse_wordlist(data.lower() if source.upper else data, source.name, url)
    expected = KNOWN_SHA256[source.name]
    if words.sha256 != expected:
        raise WordListError(f"{quote(url, 200)} has SHA-256 {words.sha256}, {source.name} has {expected}: not kept")
    return words


def _publish(target: Path, data: bytes) -> None:
    """Write a file so that it appears whole."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix="_tmp.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(temporary).replace(target)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise WordListError(
            f"cannot write {quote(str(target))}: {error.strerror}; make room or repair access"
        ) from error
