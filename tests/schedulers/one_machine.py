"""A driver without a scheduler, as a user starts it: warned while kernels compile, stopped in its
first second, lost with its machine; and again.sh, whose shell alone is stopped.

python -m tests.schedulers.one_machine [CASE ...]

The other machine is this one with another host name and another boot id, in namespaces of its own:
only root can make them.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from tests.schedulers.part import LAUNCH, Cases, Part, n_arrived, n_sessions, n_stored, play

# a stop is heard within this, also while kernels compile
_STOP_S = 10.0
_ON_ANOTHER = """
hostname other-machine
mount --bind boot_id /proc/sys/kernel/random/boot_id
exec "$@"
"""


class OneMachine(Part):
    """Drivers of this machine; what they say goes into a file for each."""

    def __init__(self) -> None:
        super().__init__("one-machine")
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        self._n_drivers = 0

    def drive(
        self, *options: object, before: tuple[object, ...] = ()
    ) -> tuple[subprocess.Popen[bytes], Path]:
        """Start ``orderly run``, with other words before it; return the process and the file with
        what it says.
        """
        self._n_drivers += 1
        said = self.folder / f"said-{self._n_drivers}"
        command = f'exec "$@" >"{said}" 2>&1'
        words = (*before, "orderly", "run", *options, "--workers", "1")
        return self.start("sh", "-c", command, "sh", *words), said

    def run_of(self, name: str) -> Path:
        """Return the folder of a run."""
        return self.folder / "runs" / name


def warned(machine: OneMachine, came: list[str]) -> None:
    """SIGUSR1 some seconds after the first kernel is asked for, with nothing in the cache."""
    for after_s in (2, 8, 15):
        name = f"cold-{after_s}"
        machine.environment["NUMBA_CACHE_DIR"] = str(machine.folder / name)
        run = machine.run_of(name)
        driver, said = machine.drive("2x2", "--cutoff", "14", "--out", run)
        machine.wait("it compiles", lambda text=said: "compiling kernels" in _text(text))
        time.sleep(after_s)
        n_kernels = len(list((machine.folder / name).rglob("*.nbi")))
        began_s = time.monotonic()
        driver.send_signal(signal.SIGUSR1)
        code = driver.wait(900)
        took_s = time.monotonic() - began_s
        del machine.environment["NUMBA_CACHE_DIR"]
        assert code == 4, f"exit code {code}\n{_text(said)}"
        assert "compiling" not in _text(said).splitlines()[-1]
        assert took_s < _STOP_S, f"{took_s:.1f} s, {n_kernels} kernels were there"
        came.append(
            f"after {after_s} s, with {n_kernels} kernels compiled: ended {took_s:.1f} s later"
        )


def in_the_first_second(machine: OneMachine, came: list[str]) -> None:
    """SIGTERM before and after it can listen: both codes are tried again by again.sh."""
    for after_s in (0.2, 0.5, 1.0, 2.0):
        driver, said = machine.drive("2x2", "--cutoff", "14", "--out", machine.run_of("early"))
        time.sleep(after_s)
        driver.terminate()
        code = driver.wait(300)
        assert code in (4, -signal.SIGTERM), f"exit code {code}\n{_text(said)}"
        came.append(f"after {after_s} s exit code {code if code >= 0 else 128 - code}")
    machine.run("orderly", "run", "2x2", "--cutoff", "14", "--out", machine.run_of("early"))
    came.append("the same command proves")


def succeeded(machine: OneMachine, came: list[str]) -> None:
    """A driver is killed on another machine; its successor starts here three seconds later."""
    run = machine.run_of("lost")
    # exec at each step: its process id is that of the driver
    other = ("unshare", "--uts", "--mount", "sh", "-c", _ON_ANOTHER, "sh")
    first, said = machine.drive("long.toml", "--out", run, before=other)
    machine.wait("rows are stored", lambda: _has_rows(run) or first.poll() is not None)
    assert first.poll() is None, _text(said)
    assert json.loads((run / "owner.json").read_text())["host"] == "other-machine"
    first.kill()
    first.wait()
    n_before = n_stored(run)
    time.sleep(3)
    began_s = time.monotonic()
    second, said = machine.drive("long.toml", "--out", run)
    machine.wait(
        "it goes on", lambda: "starting workers" in _text(said) or second.poll() is not None, 600
    )
    waited_s = time.monotonic() - began_s
    assert second.poll() is None, _text(said)
    assert "waiting for root@other-machine" in _text(said), _text(said)
    machine.wait("verdicts", lambda: n_sessions(run) > 1 and n_arrived(run) > 0)
    second.terminate()
    assert second.wait(120) == 4, _text(said)
    assert n_stored(run) > n_before
    came.append(
        f"said whom it waits for, began {waited_s:.0f} s after its start, "
        f"{n_before:,} verdicts before and {n_stored(run):,} in the end"
    )


def again(machine: OneMachine, came: list[str]) -> None:
    """SIGTERM to the shell of again.sh alone."""
    run = machine.run_of("again")
    shell, said = machine.drive("long.toml", "--out", run, before=("sh", LAUNCH / "again.sh"))
    machine.wait("verdicts", lambda: n_arrived(run) > 0 or shell.poll() is not None)
    assert shell.poll() is None, _text(said)
    driver = json.loads((run / "owner.json").read_text())["pid"]
    assert driver != shell.pid
    n_told = n_arrived(run)
    began_s = time.monotonic()
    shell.terminate()
    code = shell.wait(300)
    took_s = time.monotonic() - began_s
    assert code == 4, f"exit code {code}\n{_text(said)}"
    assert not Path(f"/proc/{driver}").exists(), "the driver is still there"
    assert not (run / "owner.json").exists()
    assert n_stored(run) >= n_told
    came.append(
        f"exit code 4 after {took_s:.1f} s, {n_stored(run):,} verdicts stored, nothing left"
    )


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _has_rows(run: Path) -> bool:
    return any((run / "results").glob("*.parquet"))


CASES: Cases[OneMachine] = {
    "SIGUSR1 with a cold kernel cache": warned,
    "SIGTERM in the first second": in_the_first_second,
    "a successor on another machine": succeeded,
    "SIGTERM to the shell of again.sh": again,
}


def main() -> int:
    """Run all cases, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    return play(OneMachine(), CASES, parser.parse_args().cases)


if __name__ == "__main__":
    sys.exit(main())
