"""From a config to everything that a run needs; all bad input is found here, nothing is written.

make_plan -> dims, word list, score table, partition -> cutoff (given, stored, or climbed) ->
question, spec
"""

import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata

import numpy as np

from orderly_boggle import search
from orderly_boggle.boardclass.distribution import NAME
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import parse_dims
from orderly_boggle.boardclass.jit import kernel_hash
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.wordlist import WordList, load_wordlist
from orderly_boggle.cluster.planning.known import best_known
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.store.identity import Place, open_place
from orderly_boggle.results.store.made import EVERYTHING, Climbed, ListTold, Made
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.breaker import Spec
from orderly_boggle.search.local.methods import Climbing
from orderly_boggle.search.params import Budgets
from orderly_boggle.search.question import Question
from orderly_boggle.search.scoring.scorer import Scorer

MAX_CLASSES = 50_000_000
# that reach the cutoff, every image counted: more than rows and claims can list
MAX_BOARDS = 10_000_000
_N_DRAWN = 100_000
_FAR = 1.2  # times what a climb of seconds finds; that reaches nine tenths of the best score
_LIBRARIES = ("numba", "numpy", "pyarrow", "ray")


@dataclass(frozen=True)
class Plan:
    """A question, and what it takes to answer it."""

    spec: Spec  # for the workers
    words: WordList
    scorer: Scorer
    location: str  # run directory, or the URI of an object store
    place: Place  # what was there
    made: Made  # for ``run.json``

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.spec.question


def make_plan(
    config: RunConfig, stage: Callable[[str], object] = str, like: Run | None = None
) -> Plan:
    """Resolve a config; ``stage`` is told what takes time, and of classes that no key holds.

    If there is no run of the config yet, it goes on like the run ``like``: in its cell order, with
    its demands.

    Raises InputError when anything that the user gave is wrong, StoreError when the run directory
    exists and cannot be read.
    """
    dims = parse_dims(config.dims)
    partition = parse_partition(config.buckets, dims)
    if partition.n_canonical > MAX_CLASSES:
        raise InputError(
            f"buckets {config.buckets!r} make {partition.n_canonical:,} board classes of {dims}: "
            f"expected at most {MAX_CLASSES:,}; use fewer, larger buckets"
        )
    wordlist = load_wordlist(config.wordlist)
    location = config.out or default_location(str(dims), wordlist.name, config.cutoff)
    place = open_place(location)
    known = place.question
    if like and (known is None or known.dims != str(dims)):
        known = like.question
    question = config.resolve(wordlist, 1, known)
    scorer = Scorer.of(question, wordlist)
    cutoff, climbed = _resolve_cutoff(config, place, question, scorer, wordlist, stage)
    question = replace(question, cutoff=cutoff)
    if n_fused := question.n_fused_first:
        stage(
            f"a tree holds {question.rules.max_free} cells, a class of {dims} has {n_fused} more "
            "that are open: they get groups of letters first, and fewer letters afterwards"
        )
    plan = plan_of(question, wordlist, scorer, location, place, config.search.budgets())
    made = replace(
        plan.made,
        words=replace(plan.made.words, source=config.wordlist),
        config=config.model_dump_json(exclude={"out"}),  # a run can be moved
        climbed=climbed,
    )
    return replace(plan, made=made)


def plan_of(
    question: Question, words: WordList, scorer: Scorer, location: str, place: Place,
    budgets: Budgets,
) -> Plan:  # fmt: skip
    """Return the plan of a question whose list and points a scorer knows."""
    told = ListTold(
        name=words.name,
        n_words=len(words.words),
        left_out=dict(words.counts),
        letters=dict(words.letters),
    )
    made = Made(
        words=told,
        scores=scorer.table.name,
        budgets=budgets,
        covers=EVERYTHING,
        kernel_hash=kernel_hash(),
        versions=_versions(),
    )
    return Plan(Spec(question, words.words, budgets), words, scorer, location, place, made)


def default_location(dims: str, wordlist_name: str, cutoff: int | str) -> str:
    """Return the run directory of a question that names none: the same command finds the same
    directory.
    """
    name = re.sub(r"[^\w.-]", "_", wordlist_name)
    return f"runs/{dims}-{name}-{cutoff}"


def _resolve_cutoff(
    config: RunConfig,
    place: Place,
    question: Question,
    scorer: Scorer,
    wordlist: WordList,
    stage: Callable[[str], object],
) -> tuple[int, Climbed | None]:
    """Return the cutoff, and the board it was climbed to if it is new; an existing run in which
    boards score the same keeps its cutoff.
    """
    if config.cutoff != "auto":
        # a run that began goes on, and need not wait for a look
        if place.identity is None and not place.folder.exists():
            _check_cutoff(config.cutoff, scorer, wordlist.words, config.seed, stage)
        return config.cutoff, None
    place.must_be_readable()
    known = place.question
    if known and known.scored == question.scored:
        return known.cutoff, None

    if answer := best_known(question.scored):
        stage(answer)
    stage("climbing to a good board for the cutoff")
    best = search.local_search(scorer, seed=config.seed)[0]
    return max(1, best.score), Climbed(best.board, best.score, config.seed)


def _check_cutoff(
    cutoff: int, scorer: Scorer, words: Sequence[str], seed: int, stage: Callable[[str], object]
) -> None:
    """Refuse a cutoff that far too many boards reach, by a look at random ones, and say so when it
    lies far above what a climb of seconds finds.

    Letters are drawn about as often as the words have them, and each board counts for as many as it
    stands for, so the estimate has no bias.
    """
    text = "".join(words).encode("ascii")
    letters = np.frombuffer(text, np.uint8) - np.uint8(ord("a"))
    shares = 0.3 / 26 + 0.7 * np.bincount(letters, minlength=26) / len(letters)
    rng = np.random.default_rng(seed)
    shape = (_N_DRAWN, scorer.dims.n)
    boards = rng.choice(26, shape, p=shares / shares.sum()).astype(np.uint8)
    scores = scorer.scores(boards)
    hits = boards[scores >= cutoff]
    # of each board that reaches it: one over how likely it was drawn
    weights = np.exp(-np.log(shares)[hits].sum(axis=1))
    n_boards = float(weights.sum()) / _N_DRAWN
    if len(hits) and n_boards <= MAX_BOARDS:
        return

    pool = 50 if scorer.dims.n <= 16 else 10  # boards of more cells take longer
    is_near = False

    def look(climbing: Climbing) -> None:
        nonlocal is_near
        # a cutoff that is too low is refused with the best board found, so that climb goes on
        is_near = n_boards <= MAX_BOARDS and cutoff <= _FAR * climbing.best

    best = search.local_search(
        scorer,
        "pool",
        seed=seed,
        runs=1,
        pool=pool,
        start=lambda _, m, __: boards[np.argsort(-scores, kind="stable")[:m]],
        progress=look,
        stop=lambda: is_near,
    )[0]
    if n_boards <= MAX_BOARDS:
        if cutoff > _FAR * best.score:
            stage(
                f"cutoff {cutoff:,} is far above what a short climb found, {best.board} with "
                f"{best.score:,} points: probably no board reaches it; --cutoff auto climbs longer"
            )
        return
    raise InputError(
        f"cutoff {cutoff:,} is far too low: about {n_boards:.0e} boards reach it, more than a run "
        f"can list; a short climb found {best.board} with {best.score:,} points, so --cutoff "
        f"{best.score} or --cutoff auto"
    )


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for name in (NAME, *_LIBRARIES):
        try:
            versions["orderly" if name == NAME else name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
