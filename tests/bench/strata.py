"""What the classes of a run cost so far, by stratum of predicted cost, and what is left of it.

    python -m tests.bench.strata CONFIG RUN        # such as configs/4x4-enable2k.toml
                                                   results/published/4x4-enable2k

The strata go from weak to strong classes.  Rows found on several machines are made comparable by a
price: so many nanoseconds for a term and for a push, by default those that ``make bench`` measured
last.  The open classes of a stratum are taken to cost what its searched ones did.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.driver.prepared import class_sums
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.costs import predicted_costs
from tests.bench.figures import newest_prices

COLUMNS = ("seconds", "n_terms", "n_pushes")
SHARES = (0.2, 0.18, 0.16, 0.14, 0.12, 0.1, 0.06, 0.04)  # of the classes in each stratum


def strata(plan: Plan) -> list[Int64s]:
    """Return the classes of a run by stratum, in order of predicted cost."""
    ids = plan.question.class_ids()
    ids = ids[np.argsort(predicted_costs(plan.question, ids), kind="stable")]
    return np.split(ids, np.round(np.cumsum(SHARES[:-1]) * len(ids)).astype(int))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per stratum and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", metavar="CONFIG")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--prices", type=float, nargs=2, metavar="NS", help="of term and push")
    options = parser.parse_args(arguments)
    if options.prices:
        term, push, where = *options.prices, "as asked for"
    else:
        term, push, where = newest_prices()
    sys.stdout.write(f"prices: {term:.3g} ns a term, {push:.3g} ns a push ({where})\n")
    plan = make_plan(load_config(options.config, {"out": options.run}))
    run = open_run(options.run)
    if plan.question != run.question:
        parser.error(f"{options.run} is not a run of {options.config}")
    ids, sums = class_sums(run, COLUMNS)
    ended = set(run.index.done_ids().tolist()) - {class_id for class_id, _ in run.index.pending()}
    costs = {i: row for i, row in zip(ids.tolist(), sums, strict=True) if i in ended}
    prices = np.array([term, push]) / 1e9
    hours = np.zeros(2)  # of all classes, and of the open ones
    for stratum in strata(plan):
        searched = [costs[class_id] for class_id in stratum.tolist() if class_id in costs]
        sys.stdout.write(f"{counted(len(stratum), 'class', 'classes')}, {len(searched):,} searched")
        if not searched:
            hours += np.nan
            sys.stdout.write("\n")
            continue
        seconds, *counters = np.mean(searched, axis=0)
        price = float(counters @ prices)
        left = len(stratum) - len(searched)
        hours += np.array([len(stratum), left]) * price / 3600
        terms, pushes = (counter / 1e6 for counter in counters)
        sys.stdout.write(
            f": {seconds:.3g} s each as it was; {terms:.3g} million terms and {pushes:.3g} "
            f"million pushes, {price:.3g} s at the prices; {left * price / 3600:.3g} h left\n"
        )
    told = f"{hours[0]:.3g} h of one core at the prices, {hours[1]:.3g} h of them left"
    sys.stdout.write(
        f"all: {'unknown, a stratum has no searched class' if np.isnan(hours[0]) else told}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
