"""How the scheduler decides: a record without behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """How the scheduler decides.

    Attributes
    ----------
    n_workers : int
        Worker slots, at least 1.
    batch_s : float
        Predicted seconds of work in one assignment; a more expensive unit goes alone.
    max_batch : int
        Units in one assignment, however cheap.
    sample : float
        Fraction of the classes given out first, at random.
    n_strikes : int
        So many failures that may be its own fault quarantine a unit.
    n_losses : int
        So many failures that are not its fault quarantine it all the same.
    lease_s, lease_factor : float
        A worker is given up when it has been silent for ``lease_s`` plus ``lease_factor`` times the predicted seconds.
    spawn_s : float
        A spawned worker is given up after this time without a word; a new machine compiles the kernels first.
    max_deaths : int
        Workers lost without any verdict in between, per slot, before the run stops.
    recycle_bytes : int
        A worker whose resident set passes this is replaced between assignments; 0: never.
    kernel_hash : str
        Workers with other kernels are refused; empty: any.
    replicate : float
        Fraction of the verdicts of trusted hosts that are checked by a replica; 0: none of any host.
    trust_after : int
        Replicas that must agree before a host is trusted.
    """

    n_workers: int
    batch_s: float = 7.0
    max_batch: int = 4096
    sample: float = 0.01
    n_strikes: int = 3
    n_losses: int = 10
    lease_s: float = 600.0
    lease_factor: float = 20.0
    spawn_s: float = 900.0
    max_deaths: int = 8
    recycle_bytes: int = 0
    kernel_hash: str = ""
    replicate: float = 0.0
    trust_after: int = 10
