"""Rules and budgets of a case, drawn and written down together; and the spec of such a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.scores import ScoreTable
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.search.breaker import Spec
from orderly_boggle.search.params import Budgets, Rules


@dataclass(frozen=True)
class Params(Budgets, Rules):
    """Rules and budgets; every value gives the same candidates."""

    def __post_init__(self) -> None:
        Rules.__post_init__(self)
        Budgets.__post_init__(self)

    @property
    def rules(self) -> Rules:
        return Rules(**{each.name: getattr(self, each.name) for each in fields(Rules)})

    @property
    def budgets(self) -> Budgets:
        return Budgets(**{each.name: getattr(self, each.name) for each in fields(Budgets)})


def spec_of(
    dims: str,
    words: str | Path | WordList | Sequence[str],
    points: str | Sequence[int] | ScoreTable,
    cutoff: int,
    buckets: str,
    params: Params | None = None,
    cell_order: Sequence[int] = (),
) -> Spec:
    params = params or Params()
    return Spec.of(dims, words, points, cutoff, buckets, params.budgets, params.rules, cell_order)


def with_question(spec: Spec, **changes: Any) -> Spec:
    """Return a spec whose question is changed."""
    question = spec.question
    if buckets := changes.get("buckets"):
        changes["buckets"] = parse_partition(buckets, question.dims).text
    return replace(spec, question=replace(question, **changes))
