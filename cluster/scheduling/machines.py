"""Machines on which no worker comes up: after three tries none is started there any more.

    failed -> is it barred now?       worked: a worker came up, so the count begins again

The fault is the machine's own: it lacks the program, or has another version of it.
"""

from collections import Counter
from dataclasses import dataclass, field

N_TRIES = 3


@dataclass
class Machines:
    """How often no worker came up, by machine; those that nobody names count for nothing.

    Attributes
    ----------
    barred : dict[str, str]
        Why, by machine.
    """

    barred: dict[str, str] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)

    def worked(self, machine: str) -> None:
        """Note that a worker came up."""
        self._failures.pop(machine, None)

    def failed(self, machine: str, reason: str) -> bool:
        """Note that a worker did not come up; return whether its machine is barred by that."""
        if not machine or machine in self.barred:
            return False
        self._failures[machine] += 1
        if self._failures[machine] < N_TRIES:
            return False
        self.barred[machine] = reason
        return True

    def describe(self) -> str:
        """Return which machines are barred, and why."""
        return "; ".join(f"{machine}: {reason}" for machine, reason in self.barred.items())
