"""Damages a finished run in many ways and sees whether anybody is told a falsehood; as a script with full counts.

    python -m tests.results.damage [--flips 2000] [--truncations 200] [--swaps 50] [--seed 1] [--stride 10]

For each damage: every reader must say what it said before, or refuse with an error that names a file and a remedy, or
miss rows at the end of the manifest and know that they are missing.  ``verify`` must do the same.  Every ``stride``-th
time the run is opened with ``drop_damaged`` and what is missing is put back: that must be rows of damaged parts, no
more, and lead to the same answer.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from boardclass.errors import OrderlyError
from results.proof.claim import Question, read_claim
from results.proof.coverage import check_coverage
from results.proof.prove import summary
from results.proof.verify import record, verify
from results.storage import files
from results.storage.local import open_folder
from results.store.parts import read_manifest, read_parts
from results.store.rows import SCHEMA
from results.store.run import open_run
from results.store.store import Store
from results.upkeep.repair import repair
from tests.results.helpers import ToyScorer, all_rows, conclude, fingerprint

REMEDY = re.compile("--drop-damaged|remove")
COUNTS = {"flips": 2000, "truncations": 200, "swaps": 50}


def make_run(run: Path) -> Path:
    """Write a finished run, a part per row."""
    with Store.open(run, fingerprint(), {"seed": 1}) as store:
        for item in all_rows():
            store.append([item])
            store.flush()
        conclude(store)
    (run / files.LOCK).unlink(missing_ok=True)
    return run


def answer(location: Path) -> Any:
    """Everything a run says, read back through every file."""
    run = open_run(location)
    rows = [(r.key, r.verdict) for r in run.rows()]
    coverage = check_coverage(run)
    found = summary(run)
    return rows, coverage, found.listed, found.proven, found.notes, read_claim(run), run.info, run.fingerprint


def verified(location: Path, *, write: bool = False) -> str:
    """Return the digest that ``verify`` finds."""
    toy = ToyScorer()
    run = open_run(location)
    found = verify(run, toy, toy, Question("toy", 1, "custom"))
    if write:
        record(run, found)
    return found.claim.result_digest


class Campaign:
    """One finished run, damaged and mended again and again.

    Attributes
    ----------
    outcomes : Counter
        How damage showed to readers: ``error``, ``harmless`` (everything is read as before), ``missing`` (rows at the
        end of the manifest, known to be missing).
    n_verified, n_repaired : int
        Damages that ``verify`` named, and runs that were repaired.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.whole = make_run(folder / "whole")
        self.run = Path(shutil.copytree(self.whole, folder / "run"))
        self.truth = answer(self.whole)
        self.digest = verified(self.run, write=True)  # adds to the claim: what is in the copy now is the truth
        shutil.rmtree(self.whole)
        shutil.copytree(self.run, self.whole)
        self.truth = answer(self.whole)
        self.rng = random.Random(seed)
        self.outcomes: Counter[str] = Counter()
        self.n_verified = self.n_repaired = 0

    def files(self) -> list[Path]:
        kept = (files.LOCK, files.OWNER)
        return sorted(path for path in self.run.rglob("*") if path.is_file() and path.name not in kept)

    def flip(self) -> list[Path]:
        victim = self.rng.choice(self.files())
        data = bytearray(victim.read_bytes())
        data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        victim.write_bytes(data)
        return [victim]

    def truncate(self) -> list[Path]:
        victim = self.rng.choice(self.files())
        data = victim.read_bytes()
        victim.write_bytes(data[: self.rng.randrange(len(data))])
        return [victim]

    def swap(self) -> list[Path]:
        one, two = self.rng.sample(self.files(), 2)
        data = one.read_bytes()
        one.write_bytes(two.read_bytes())
        two.write_bytes(data)
        return [one, two]

    def strike(self, kind: str, *, repair: bool) -> str:
        """Damage the run in one way, see what comes of it, mend it; return the outcome."""
        victims = {"flips": self.flip, "truncations": self.truncate, "swaps": self.swap}[kind]()
        outcome = self._noticed(victims)
        self.outcomes[outcome] += 1
        self._verified(victims, outcome)
        if repair:
            self._mend(self.whole)
            victims = {"flips": self.flip, "truncations": self.truncate, "swaps": self.swap}[kind]()
            self._repaired(victims)
        self._mend(self.whole)
        return outcome

    def _noticed(self, victims: list[Path]) -> str:
        try:
            found = answer(self.run)
        except OrderlyError as error:
            check_told(error, victims)
            return "error"
        if found == self.truth:
            assert not any(victim.suffix == ".parquet" for victim in victims)
            return "harmless"
        assert set(found[0]) < set(self.truth[0]), "rows may be missing, never altered"
        assert not found[1].complete
        assert files.MANIFEST in [victim.name for victim in victims]
        return "missing"

    def _verified(self, victims: list[Path], outcome: str) -> None:
        try:
            assert verified(self.run) == self.digest
        except OrderlyError as error:
            if outcome != "missing":
                check_told(error, victims)
            self.n_verified += 1
        else:
            assert outcome == "harmless"

    def _repaired(self, victims: list[Path]) -> None:
        """Open with ``drop_damaged``, put back what is missing, and compare."""
        intact = self._keys_of_intact_parts()
        with Store.open(self.run, fingerprint(), {"seed": 1}, recover=repair) as store:
            missing = [item for item in all_rows() if item.key not in store.index.done()]
            assert not {item.key for item in missing} & intact, "what could be read is not computed again"
            store.append(missing)
            conclude(store)
        assert verified(self.run) == self.digest
        assert summary(self.run).result_digest == self.digest
        found = answer(self.run)
        assert sorted(found[0]) == sorted(self.truth[0])
        assert found[2] == self.truth[2]
        self.n_repaired += 1

    def _keys_of_intact_parts(self) -> set[Any]:
        """Return the units whose part is as it was and still listed in a manifest line as it was."""
        old, new = open_folder(self.whole), open_folder(self.run)
        lines = set(new.read_lines(files.MANIFEST)[0])
        kept = [
            part
            for part in read_manifest(old).parts
            if part.format() in lines and new.read(part.name) == old.read(part.name)
        ]
        tables = [table for _, table in read_parts(old, kept, SCHEMA)]
        return {(class_id, "") for table in tables for class_id in table.column("class_id").to_pylist()}

    def _mend(self, whole: Path) -> None:
        shutil.rmtree(self.run)
        shutil.copytree(whole, self.run)


def check_told(error: OrderlyError, victims: list[Path]) -> None:
    """Check that an error names one of the damaged files and a way out."""
    text = str(error)
    assert error.exit_code == 3, text
    assert any(victim.name in text for victim in victims) or files.MANIFEST in text, text
    assert REMEDY.search(text), text


def main(arguments: list[str]) -> None:
    """Run a campaign and print its counts."""
    parser = argparse.ArgumentParser(description="damage a run in many ways")
    for kind, count in COUNTS.items():
        parser.add_argument(f"--{kind}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stride", type=int, default=10, help="repair every so manieth time")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder), asked.seed)
        for kind in COUNTS:
            before = campaign.outcomes.copy()
            for number in range(getattr(asked, kind)):
                campaign.strike(kind, repair=number % asked.stride == 0)
            counts = campaign.outcomes - before
            sys.stdout.write(f"{kind}: {dict(counts)}, 0 silently wrong\n")
    sys.stdout.write(f"verify named {campaign.n_verified}, {campaign.n_repaired} runs repaired\n")


if __name__ == "__main__":
    main(sys.argv[1:])
