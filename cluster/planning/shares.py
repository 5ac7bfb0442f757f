"""Shares of a run: its classes dealt out by a fixed rule, so that several people can search one
run.

All canonical classes are put in order of predicted cost, the most expensive first and equal ones by
id, and dealt like cards, back and forth: to the shares 1, 2 ... N, then N ... 2, 1, then 1, 2 ... N
again.  So every share gets its part of the expensive classes.  The predictions
(``search.costs.predicted_costs``) depend on the partition and the letter order, which are the same
in all runs that can be merged: the N shares have no class in common, and together they are all.

A share is not part of the question and changes no verdict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orderly_boggle.boardclass.errors import ConfigError, quote
from orderly_boggle.boardclass.partition import among
from orderly_boggle.search.costs import predicted_costs

if TYPE_CHECKING:
    from collections.abc import Collection

    from orderly_boggle.boardclass.arrays import Int64s
    from orderly_boggle.results.proof.coverage import Coverage
    from orderly_boggle.results.store.rows import Key
    from orderly_boggle.results.store.store import Store
    from orderly_boggle.search.question import Question


@dataclass(frozen=True)
class Share:
    """One of ``n_shares`` equal parts of the classes."""

    number: int  # from 1
    n_shares: int

    def __str__(self) -> str:
        return f"{self.number}/{self.n_shares}"

    def of(self, question: Question) -> Int64s:
        """Return the ids of this share's classes, int64, ascending.

        Raises ConfigError when the run has fewer classes than shares.
        """
        class_ids = question.class_ids()
        if self.n_shares > len(class_ids):
            raise ConfigError(
                f"--share {self}: expected at most as many shares as the run has classes, "
                f"{len(class_ids):,}"
            )
        rounds, places = np.divmod(np.arange(len(class_ids)), self.n_shares)
        dealt_to = np.where(rounds % 2 == 0, places, self.n_shares - 1 - places) + 1
        costliest_first = np.argsort(-predicted_costs(question, class_ids), kind="stable")
        return np.sort(class_ids[costliest_first[dealt_to == self.number]])

    def judge(
        self,
        own_ids: Int64s,
        store: Store,
        coverage: Coverage,
        message: str,
        doubted: Collection[Key],
    ) -> tuple[str, bool]:
        """Return what to say of a run that is not complete, and whether the share is done all the
        same.

        The search of the classes ``own_ids`` says in ``message`` what is missing; it is empty when
        all that was given is settled.  ``doubted`` are units of any share that had to be found
        again, see ``Run.doubted``.
        """
        pending_ids = [class_id for class_id, _ in store.index.pending()]
        pending = np.array(pending_ids, np.int64)
        is_done = among(own_ids, store.index.done_ids()) & ~among(own_ids, pending)
        open_ids = own_ids[~is_done]
        if message or len(open_ids) or coverage.problems or coverage.conflicting:
            text = (
                f"share {self} is not done: {len(open_ids):,} of its {len(own_ids):,} classes are "
                "not settled"
            )
            return "\n".join(filter(None, (text, message, coverage.message()))), False
        n_left = coverage.n_classes - coverage.n_classes_done
        text = (
            f"share {self} is done: all {len(own_ids):,} classes of it are settled. The other "
            f"{coverage.n_classes - len(own_ids):,} classes belong to the other shares: {n_left:,} "
            "of them are not settled here, so nothing is proven yet."
        )
        doubted_ids = [class_id for class_id, _ in doubted]
        if others := np.isin(doubted_ids, own_ids, invert=True).sum():
            text += (
                f" {others:,} verdicts in other shares come from doubted hosts and have to be "
                "found again."
            )
        return f"{text} Put the shares together with: orderly merge TARGET DIR...", True


def parse_share(text: str) -> Share:
    """Return the share that a text such as ``2/5`` names. Raises ConfigError when it does not name
    one.
    """
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text, re.ASCII)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigError(
            f"--share {quote(text)}: expected K/N with K from 1 to N, such as 2/5 "
            "for the second of five"
        )
    return Share(int(match[1]), int(match[2]))
