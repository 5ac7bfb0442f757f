"""``orderly wordlist list``, ``check`` and ``get``."""

from __future__ import annotations

import os
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

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
from configs.sources import Source, sources

TIMEOUT_S = 30


def list_all(fmt: Format) -> None:
    """Print the lists that can be used by name, and the well-known ones that are not here."""
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


def check(file: str, fmt: Format) -> None:
    """Print what a list holds: usable words, lines left out by reason, SHA-256, and whether it is a known list.

    Raises
    ------
    WordListError
        If it cannot be used; the message has the first offending lines.
    """
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


def get(name: str, url: str | None, fmt: Format) -> None:
    """Download a known list into the user's folder of word lists; keep it only if its SHA-256 is the known one.

    Raises
    ------
    WordListError
        If the list is unknown, not free to download, out of reach, or not what its name says.
    """
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
