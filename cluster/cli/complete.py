"""What the shell offers after a TAB: the values of options that have names; every function imports what it needs."""

from __future__ import annotations

from collections.abc import Iterable


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that begin so; if there are none, the shell offers files."""
    return [name for name in names if name.startswith(incomplete)]


def presets(incomplete: str) -> list[str]:
    """Complete the name of a preset."""
    from configs.model import preset_names

    return _starting(preset_names(), incomplete)


def sizes(incomplete: str) -> list[str]:
    """Complete board dimensions."""
    from boardclass.geometry import DIMS

    return _starting(DIMS, incomplete)


def wordlists(incomplete: str) -> list[str]:
    """Complete the name of a word list that is here."""
    from boardclass.wordlist import available_names

    return _starting(available_names(), incomplete)


def known_wordlists(incomplete: str) -> list[str]:
    """Complete the name of a word list that can be downloaded."""
    from configs.sources import sources

    return _starting((name for name, source in sources().items() if source.url), incomplete)


def score_tables(incomplete: str) -> list[str]:
    """Complete the name of a score table."""
    from boardclass.scores import TABLES

    return _starting(TABLES, incomplete)


def dice(incomplete: str) -> list[str]:
    """Complete the name of a bundled set of dice."""
    from configs.dicesets import dice_names

    return _starting(dice_names(), incomplete)


def solvers(incomplete: str) -> list[str]:
    """Complete the name of a solver."""
    return _starting(("heap", "paths", "trie", "words"), incomplete)
