"""A claim that follows from a proven run; the proof is in results/upkeep/derive.py."""

import time
from dataclasses import replace

from orderly_boggle.boardclass.scores import ScoreTable
from orderly_boggle.boardclass.wordlist import WordList, load_wordlist
from orderly_boggle.cluster.driver.driver import RunOutcome, conclude, tell_repairs
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.prepared import prepare
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.planning.plan import default_location, plan_of
from orderly_boggle.cluster.scheduling.events import Finish
from orderly_boggle.results.log_events import Reused
from orderly_boggle.results.proof.known import check_known
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage.lock import say_once
from orderly_boggle.results.store.identity import open_place
from orderly_boggle.results.store.run import Run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.derive import check_follows, derived
from orderly_boggle.results.upkeep.extend import check_promise, doubts, inherited
from orderly_boggle.search.scoring.scorer import Scorer


def derive(
    source: Run,
    source_words: WordList,
    wordlist: str,
    points: ScoreTable | None = None,
    cutoff: int | None = None,
    out: str | None = None,
    progress: Progress | None = None,
) -> RunOutcome:
    """Write the claim that a proven run allows about an easier question.

    source_words : the word list of the run
    wordlist : name or path of the list of the question
    points, cutoff : those of the question; by default those of the run
    out : the run directory, which may hold what an earlier call left

    Raises IncompleteError when the run is not proven; InputError when the claim does not follow
    (nothing has been written); StoreError when a run directory is damaged, locked or of another
    run.
    """
    progress = progress or Progress()
    began_s = time.monotonic()
    where = source.folder.where("")
    own = source.question
    summary(source).require_proven(where)
    points = points or own.table
    words = load_wordlist(wordlist)
    cutoff = cutoff or own.cutoff
    asked = replace(own, words_sha256=words.sha256, points=points.points, cutoff=cutoff)
    check_follows(source, asked, source_words, words)
    scorer = Scorer.of(asked, words)
    location = out or default_location(asked.dims, words.name, asked.cutoff)
    place = open_place(location)
    budgets = source.made.budgets
    plan = plan_of(asked, words, scorer, location, place, budgets)
    told = replace(plan.made.words, source=wordlist)
    made = inherited(source, replace(plan.made, words=told))
    with (
        Store.open(plan.place, plan.question, made, wait=say_once()) as store,
        Journal(store.run.folder) as journal,
    ):
        tell_repairs(store, progress, journal)
        check_known(store.run)
        check_promise(store.run, source)
        rows = []
        for row in derived(source, plan.question, plan.scorer):
            # of a run that was begun there, or of a host that is in doubt there
            if row.key in store.index.places or row.host in store.index.doubted_hosts:
                continue
            rows.append(row)
        store.append([*doubts(source, store), *rows], copied=True)
        store.flush()
        reused = Reused(
            location=where,
            cutoff=own.cutoff,
            n_reused=len(rows),
            n_verdicts=len(source.index.places),
        )
        journal.note(reused)
        prepared = prepare(plan, store, progress, journal, began_s)
        return conclude(prepared, Finish(complete=True))
