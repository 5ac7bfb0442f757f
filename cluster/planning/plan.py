"""From a config to everything that a run needs; all bad input is found here, nothing is written.

make_plan -> dims, word list, score table, partition -> cutoff (given, stored, or climbed) ->
fingerprint, spec
"""

import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

import numpy as np

import search
from boardclass.arrays import Float64s, Int64s
from boardclass.distribution import NAME
from boardclass.errors import InputError
from boardclass.geometry import cell_order_of, parse_dims
from boardclass.jit import kernel_hash
from boardclass.partition import Partition, parse_partition
from boardclass.scores import ScoreTable, parse_scores
from boardclass.wordlist import WordList, load_wordlist
from configs.model import RunConfig
from results.errors import DamagedError
from results.proof.nodes import SearchNodes
from results.storage.local import open_folder
from results.store.documents import Fingerprint, read_identity
from results.upkeep.extend import COVERS, EVERYTHING
from search.breaker import Spec
from search.params import Rules
from search.question import Question, ask
from search.scoring.scorer import Scorer

MAX_CLASSES = 50_000_000
# that reach the cutoff, every image counted: more than rows and claims can list
MAX_BOARDS = 10_000_000
_N_DRAWN = 100_000
_FAR = 1.2  # times what a climb of seconds finds; that reaches nine tenths of the best score
# Search parameters that the path of a part depends on: fixed for the life of a run, while budgets
# may change.
STRUCTURAL = ("fused", "letter_order", "demands", "unfuse_parts", "force_groups")
COARSE = ("max_free", "coarse_groups")  # of runs with classes that are too wide for a key
_LIBRARIES = ("numba", "numpy", "pyarrow", "ray")


@dataclass(frozen=True)
class Plan:
    """A resolved run."""

    config: RunConfig
    location: str  # run directory, or the URI of an object store
    wordlist: WordList
    table: ScoreTable
    partition: Partition
    scorer: Scorer
    spec: Spec  # for the workers
    fingerprint: Fingerprint
    run_info: dict[str, Any]  # for ``run.json``

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.spec.question

    @property
    def cutoff(self) -> int:
        """The cutoff, resolved."""
        return self.fingerprint.cutoff

    def nodes(self) -> SearchNodes:
        """Return the rules by which this run cuts its classes into parts."""
        return SearchNodes(self.question)

    def class_ids(self) -> Int64s:
        """Return the canonical classes, int64, ascending."""
        return np.concatenate([np.empty(0, np.int64), *self.partition.canonical_ranks()])

    def predicted_costs(self, class_ids: Int64s) -> Float64s:
        """Return float64[n]: figures that grow with the expected cost of a class, because strong
        letters cost more.

        Each is the product, over the cells, of one more than the place of the cell's last letter in
        ``letter_order``.
        """
        weights = {
            letter: 1.0 + place for place, letter in enumerate(self.question.rules.letter_order)
        }
        costs, rest = np.ones(len(class_ids)), np.array(class_ids, np.int64)
        for buckets in self.partition.cell_buckets:
            heaviest = np.array([max(map(weights.__getitem__, bucket)) for bucket in buckets])
            above = rest // len(buckets)  # numpy is slow at remainders
            costs *= heaviest[rest - above * len(buckets)]
            rest = above
        return costs


def make_plan(
    config: RunConfig, stage: Callable[[str], object] = str, like: str | None = None
) -> Plan:
    """Resolve a config; ``stage`` is told what takes time, and of classes that no key holds.

    If there is no run of the config yet, it goes on like the run ``like``: in its cell order, with
    its demands.

    Raises InputError when anything that the user gave is wrong, StoreError when the run directory
    exists and cannot be read.
    """
    dims = parse_dims(config.dims)
    table = parse_scores(config.scores)
    partition = parse_partition(config.buckets, dims)
    if partition.n_canonical > MAX_CLASSES:
        raise InputError(
            f"buckets {config.buckets!r} make {partition.n_canonical:,} board classes of {dims}: "
            f"expected at most {MAX_CLASSES:,}; use fewer, larger buckets"
        )
    wordlist = load_wordlist(config.wordlist)
    scorer = Scorer(dims, wordlist, table)
    location = config.out or default_location(config, str(dims), wordlist.name)
    cell_order, demands = _recorded_rules(
        config, [location, like] if like else [location], str(dims)
    )
    rules = replace(config.search.rules(), demands=demands)
    probed = ask(dims, wordlist.sha256, table, 1, partition.text, cell_order, rules)
    if n_fused := probed.n_fused_first:
        stage(
            f"a key holds {rules.max_free} cells, a class of {dims} has {n_fused} more that are "
            "open: they get groups of letters first, and fewer letters afterwards"
        )
    cutoff, climbed = _resolve_cutoff(config, location, scorer, wordlist, stage)
    question = replace(probed, cutoff=cutoff)
    of = Fingerprint(
        dims=str(dims),
        wordlist_sha256=wordlist.sha256,
        scores=table.points,
        cutoff=cutoff,
        partition=partition.text,
        cell_order=cell_order,
    )
    spec = Spec(question, wordlist.words, config.search.budgets())
    run_info = {
        COVERS: EVERYTHING,
        "config": config.model_dump(mode="json", exclude={"out"}),  # a run can be moved
        "wordlist": _list_info(wordlist),
        "scores": table.name,
        "climbed": climbed,
        "structure": structure(question),
        "n_classes": partition.n_canonical,
        "kernel_hash": kernel_hash(),
        "versions": _versions(),
    }
    return Plan(config, location, wordlist, table, partition, scorer, spec, of, run_info)


def _list_info(wordlist: WordList) -> dict[str, object]:
    info: dict[str, object] = {
        "name": wordlist.name,
        "n_words": len(wordlist.words),
        "left_out": dict(wordlist.counts),
    }
    return info | ({"letters": dict(wordlist.letters)} if wordlist.letters else {})


def structure(question: Question) -> dict[str, object]:
    """Return the structural parameters as ``run.json`` holds them."""
    info = {}
    for name in STRUCTURAL + COARSE * (question.n_fused_first > 0):
        value = getattr(question.rules, name)
        if (name, value) != ("demands", "every"):  # older runs do not name their rule
            info[name] = list(value) if isinstance(value, tuple) else value
    return info


def default_location(config: RunConfig, dims: str, wordlist_name: str) -> str:
    """Return the run directory of a config that names none: the same command finds the same
    directory.
    """
    name = re.sub(r"[^\w.-]", "_", wordlist_name)
    return f"runs/{dims}-{name}-{config.cutoff}"


def _resolve_cutoff(
    config: RunConfig,
    location: str,
    scorer: Scorer,
    wordlist: WordList,
    stage: Callable[[str], object],
) -> tuple[int, dict[str, object] | None]:
    """Return the cutoff, and the board it was climbed to if it is new; an existing run of the same
    size, list and points keeps its cutoff.
    """
    if config.cutoff != "auto":
        # a run that began goes on, and need not wait for a look
        if not open_folder(location).exists():
            _check_cutoff(config.cutoff, scorer, wordlist.words, config.seed, stage)
        return config.cutoff, None
    identity = read_identity(open_folder(location))
    if identity is not None:
        known = identity[0]
        same = (str(scorer.dims), wordlist.sha256, scorer.table.points)
        if (known.dims, known.wordlist_sha256, known.scores) == same:
            return known.cutoff, None

    stage("climbing to a good board for the cutoff")
    best = search.local_search(scorer, seed=config.seed)[0]
    return max(1, best.score), {"board": best.board, "score": best.score, "seed": config.seed}


def _check_cutoff(
    cutoff: int, scorer: Scorer, words: Sequence[str], seed: int, stage: Callable[[str], object]
) -> None:
    """Refuse a cutoff that far too many boards reach, by a look at random ones, and say so when it
    lies far above what a climb of seconds finds.

    Letters are drawn about as often as the words have them, and each board counts for as many as it
    stands for, so the estimate has no bias.
    """
    letters = np.frombuffer("".join(words).encode("ascii"), np.uint8) - np.uint8(ord("a"))
    shares = 0.3 / 26 + 0.7 * np.bincount(letters, minlength=26) / len(letters)
    rng, shape = np.random.default_rng(seed), (_N_DRAWN, scorer.dims.n)
    boards = rng.choice(26, shape, p=shares / shares.sum()).astype(np.uint8)
    hits = boards[scorer.scores(boards) >= cutoff]
    n_boards = float(np.exp(-np.log(shares)[hits].sum(axis=1)).sum()) / _N_DRAWN
    if len(hits) and n_boards <= MAX_BOARDS:
        return

    pool = 50 if scorer.dims.n <= 16 else 10  # boards of more cells take longer
    best = search.local_search(scorer, seed=seed, runs=1, pool=pool)[0]
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


def _recorded_rules(
    config: RunConfig, locations: Sequence[str], dims: str
) -> tuple[tuple[int, ...], str]:
    """Return cell order and demands: those named, else those of the first run that is there, else
    the default ones.
    """
    order = None if config.order is None else cell_order_of(dims, config.order)
    demands = config.search.demands
    for location in locations if order is None or demands is None else ():
        try:
            identity = read_identity(open_folder(location))
        except DamagedError:  # the store reports or repairs that when it is opened
            continue
        if identity is not None and identity[0].dims == dims:
            order = order or identity[0].cell_order
            demands = demands or identity[1].get("structure", {}).get("demands", "every")
    return order or cell_order_of(dims, None), demands or Rules.demands


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for name in (NAME, *_LIBRARIES):
        try:
            versions["orderly" if name == NAME else name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
