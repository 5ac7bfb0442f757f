"""Runs in real object stores, brought up on loopback and ended by their pids.

python -m tests.soundness.real_stores PART ... [--folder DIR] [--outage SECONDS]

    s3rver      3.7.1, from npm
    swift       2.38.3, from the package index: account, container and object server, s3api
    swift-lag   the same with three container servers, of which one is stopped for a while
    swift-2.30  2.30.1, the packages of Debian 12
    ceph        RGW 16.2.15, the packages of Debian 12: one monitor, one OSD in memory
    moto        5.2, as in the tests

What is downloaded is kept in DIR, unpacked, not installed.  Prints one line for each case, and
fails at the first that is not right.  A store is away while the next one goes through its cases.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from pyarrow import fs

from orderly_boggle.results.storage.local import open_folder
from tests.cluster.clusters import free_port
from tests.results.proxies import Proxy

ROOT = Path(__file__).resolve().parents[2]
ORDERLY = (sys.executable, "-c", "from orderly_boggle.cluster.cli.start import main; main()")
DIGEST = re.compile(r"digest +([0-9a-f]{64})")
CEPH_DEBS = ("ceph-mon", "ceph-osd", "ceph-mgr", "radosgw")
SWIFT_DEBS = ("swift-proxy", "swift-account", "swift-container", "swift-object")


class Store(NamedTuple):
    """A store that is up: endpoint, key, secret, and the processes that may be stopped."""

    endpoint: str
    key: str
    secret: str
    processes: list[subprocess.Popen[bytes]]
    limited: tuple[str, str] = ("", "")  # key and secret of a user without rights


@contextlib.contextmanager
def started(
    commands: list[list[str]], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start processes, each with a log in the folder; end them."""
    processes = []
    try:
        for number, command in enumerate(commands):
            with (folder / f"log-{number}").open("wb") as log:
                process = subprocess.Popen(
                    command,
                    stdout=log,
                    stderr=log,
                    cwd=folder,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                )
            processes.append(process)
        yield processes
    finally:
        for process in reversed(processes):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(port: int, seconds: float = 240.0) -> None:
    """Wait until somebody listens on a port of this machine."""
    import socket

    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise SystemExit(f"nobody listens on port {port}")


def do(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def unpacked(names: tuple[str, ...], folder: Path) -> Path:
    """Return a folder with packages of Debian and what they need, unpacked."""
    root = folder / names[0]
    if not (root / "usr").is_dir():
        archives = folder / f"{names[0]}-debs"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        do("apt-get", "install", "-y", "--no-install-recommends", "--download-only",
           "-o", f"Dir::Cache::archives={archives}", *names)  # fmt: skip
        for package in archives.glob("*.deb"):
            do("dpkg-deb", "-x", package, root)
    return root


@contextlib.contextmanager
def s3rver(folder: Path, temporary: Path) -> Iterator[Store]:
    """Bring s3rver up."""
    program = folder / "s3rver" / "node_modules" / ".bin" / "s3rver"
    if not program.exists():
        do("npm", "install", "--silent", "--prefix", folder / "s3rver", "s3rver@3.7.1")
    port, data = free_port(), temporary / "data"
    data.mkdir()
    command = [str(program), "-d", str(data), "-a", "127.0.0.1", "-p", str(port)]
    with started([command], temporary) as processes:
        wait_for(port)
        yield Store(f"http://127.0.0.1:{port}", "S3RVER", "S3RVER", processes)


@contextlib.contextmanager
def moto(folder: Path, temporary: Path) -> Iterator[Store]:
    """Bring moto up."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with started([command], temporary) as processes:
        wait_for(port)
        yield Store(f"http://127.0.0.1:{port}", "tester", "secret", processes)


PROXY_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {conf}
workers = 0
user = root
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats cache s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 3
conn_timeout = 0.5
error_suppression_interval = 1
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
"""
SERVER_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {conf}
devices = {devices}
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
workers = 0
user = root
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
[{kind}-replicator]
[{kind}-updater]
interval = 5
[{kind}-auditor]
"""


@contextlib.contextmanager
def swift(
    folder: Path, temporary: Path, n_containers: int = 1, debian: bool = False
) -> Iterator[Store]:
    """Bring Swift up, with one account and one object server."""
    conf = temporary / "conf"
    conf.mkdir()
    environment: dict[str, str] = {}
    if debian:
        root = unpacked(SWIFT_DEBS, folder)
        environment["PYTHONPATH"] = str(root / "usr/lib/python3/dist-packages")
        environment["LD_LIBRARY_PATH"] = str(root / "usr/lib/x86_64-linux-gnu")
        binaries, python = root / "usr/bin", shutil.which("python3.11") or sys.executable
    else:
        binaries = folder / "swift-venv" / "bin"
        python = str(binaries / "python")
        if not binaries.exists():
            do(sys.executable, "-m", "venv", folder / "swift-venv")
            do(python, "-m", "pip", "install", "-q", "swift==2.38.3")
    kinds = ["account", "object", *["container"] * n_containers]
    ports = {kind: [free_port() for _ in range(kinds.count(kind))] for kind in set(kinds)}
    (conf / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n"
        "[storage-policy:0]\nname = gold\ndefault = yes\n"
    )
    proxy_port = free_port()
    (conf / "proxy-server.conf").write_text(PROXY_CONF.format(port=proxy_port, conf=conf))
    commands = []
    run = [python, "-W", "ignore"]
    for kind, its in ports.items():
        builder = conf / f"{kind}.builder"
        ring = [*run, str(binaries / "swift-ring-builder"), str(builder)]
        do(*ring, "create", "4", str(len(its)), "0", cwd=conf, env=environment)
        for number, port in enumerate(its):
            device = f"{kind}{number}"
            (temporary / device / "d").mkdir(parents=True)
            do(*ring, "add", f"r1z{number + 1}-127.0.0.1:{port}/d", "1", cwd=conf, env=environment)
            path = conf / f"{device}.conf"
            text = SERVER_CONF.format(port=port, conf=conf, devices=temporary / device, kind=kind)
            path.write_text(text)
            commands.append([*run, str(binaries / f"swift-{kind}-server"), str(path)])
        subprocess.run(
            [*ring, "rebalance"], cwd=conf, env={**os.environ, **environment},
            capture_output=True, check=False,
        )  # fmt: skip
    commands.append([*run, str(binaries / "swift-proxy-server"), str(conf / "proxy-server.conf")])
    environment["SWIFT_CONF"] = str(conf / "swift.conf")
    with contextlib.ExitStack() as stack:
        with at_etc_swift(conf):  # read at the start only
            processes = stack.enter_context(started(commands, temporary, environment))
            for port in (*(port for its in ports.values() for port in its), proxy_port):
                wait_for(port)
        containers = [
            process
            for process, command in zip(processes, commands, strict=True)
            if "container" in command[-2]
        ]
        yield Store(f"http://127.0.0.1:{proxy_port}", "test:tester", "testing", containers)


@contextlib.contextmanager
def at_etc_swift(conf: Path) -> Iterator[None]:
    """Let Swift find its configuration in the one place where it looks."""
    link, ends_s = Path("/etc/swift"), time.monotonic() + 300
    while True:
        try:
            link.symlink_to(conf)
            break
        except FileExistsError:  # another one starts
            if time.monotonic() > ends_s:
                sys.exit(f"{link} exists: another Swift may run on this machine")
            time.sleep(1)
    try:
        yield
    finally:
        link.unlink()


CEPH_CONF = """
[global]
fsid = 11111111-2222-3333-4444-555555555555
mon host = v1:127.0.0.1:{mon}
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 1073741824
osd class dir = {lib}/rados-classes
erasure code dir = {lib}/ceph/erasure-code
plugin dir = {lib}/ceph
run dir = {here}/run
admin socket = {here}/run/$name.asok
log file = {here}/$name.log
mon data = {here}/mon
osd data = {here}/osd
mgr data = {here}/mgr
rgw data = {here}/rgw
debug ms = 0
rgw frontends = beast endpoint=127.0.0.1:{rgw}
rgw enable ops log = false
"""


@contextlib.contextmanager
def ceph(folder: Path, temporary: Path) -> Iterator[Store]:
    """Bring Ceph up: monitor, OSD in memory, gateway."""
    root = unpacked(CEPH_DEBS, folder)
    lib, binaries = root / "usr/lib/x86_64-linux-gnu", root / "usr/bin"
    environment = {
        "LD_LIBRARY_PATH": f"{lib}:{lib}/ceph:{lib}/nss:{root}/lib/x86_64-linux-gnu",
        "CEPH_CONF": str(temporary / "ceph.conf"),
        "PYTHONPATH": f"{root}/usr/lib/python3/dist-packages",
    }
    ports = {"mon": free_port(), "rgw": free_port()}
    conf = temporary / "ceph.conf"
    conf.write_text(CEPH_CONF.format(here=temporary, lib=lib, **ports))
    for name in ("run", "mon", "osd", "mgr", "rgw"):
        (temporary / name).mkdir()
    common = ["-c", str(conf)]
    address = f"[v1:127.0.0.1:{ports['mon']}]"
    do(binaries / "monmaptool", "--create", "--fsid", "11111111-2222-3333-4444-555555555555",
       "--addv", "a", address, temporary / "map", env=environment)  # fmt: skip
    do(binaries / "ceph-mon", *common, "--mkfs", "-i", "a", "--monmap", temporary / "map",
       env=environment)  # fmt: skip
    mon = [str(binaries / "ceph-mon"), *common, "-f", "-i", "a"]
    osd = [str(binaries / "ceph-osd"), *common, "-f", "-i", "0"]
    gateway = [str(binaries / "radosgw"), *common, "-f", "-n", "client.admin"]
    with started([mon], temporary, environment):
        wait_for(ports["mon"])
        python = shutil.which("python3.11") or sys.executable
        admin = [python, str(binaries / "ceph"), *common]
        uuid = "22222222-2222-3333-4444-555555555555"
        do(*admin, "osd", "new", uuid, env=environment)
        do(binaries / "ceph-osd", *common, "--mkfs", "-i", "0", "--osd-uuid", uuid, env=environment)
        (temporary / "osd-logs").mkdir()
        with started([osd], temporary / "osd-logs", environment):
            (temporary / "rgw-logs").mkdir()
            with started([gateway], temporary / "rgw-logs", environment) as processes:
                wait_for(ports["rgw"])
                pairs = []
                for name in ("me", "limited"):
                    user = do(binaries / "radosgw-admin", *common, "user", "create", "--uid", name,
                              "--display-name", name, env=environment)  # fmt: skip
                    keys = json.loads(user)["keys"][0]
                    pairs.append((keys["access_key"], keys["secret_key"]))
                url = f"http://127.0.0.1:{ports['rgw']}"
                yield Store(url, *pairs[0], processes, pairs[1])


PARTS: dict[str, Callable[[Path, Path], contextlib.AbstractContextManager[Store]]] = {
    "s3rver": s3rver,
    "moto": moto,
    "swift": swift,
    "swift-lag": lambda folder, temporary: swift(folder, temporary, 3),
    "swift-2.30": lambda folder, temporary: swift(folder, temporary, debian=True),
    "ceph": ceph,
}


def environment_of(store: Store, endpoint: str = "") -> dict[str, str]:
    """Return the documented settings for a store."""
    return {
        "AWS_ENDPOINT_URL": endpoint or store.endpoint,
        "AWS_ACCESS_KEY_ID": store.key,
        "AWS_SECRET_ACCESS_KEY": store.secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def orderly(*arguments: str, **changes: str) -> tuple[int, str]:
    """Run the program; return its exit code and all it says."""
    done = subprocess.run(
        [*ORDERLY, *arguments],
        env={**os.environ, **changes, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def right(what: str, is_right: bool, told: str) -> None:
    """Print a case; end when it is wrong."""
    sys.stdout.write(f"  {'right' if is_right else 'WRONG'}: {what}\n")
    sys.stdout.flush()
    if not is_right:
        sys.exit(told[-3000:])


def digest_of(text: str) -> str:
    """Return the digest that a run prints."""
    found = DIGEST.search(text)
    return found[1] if found else ""


def check(name: str, store: Store, digest: str) -> None:
    """Go through all cases in which the store is there."""
    settings = environment_of(store)
    os.environ.update(settings)
    try:
        filesystem = fs.S3FileSystem(
            endpoint_override=store.endpoint, allow_bucket_creation=True, region="us-east-1"
        )
        filesystem.create_dir("orderly-runs")
        bucket = "s3://orderly-runs"
        code, told = orderly("run", "2x2", "--out", f"{bucket}/run", **settings)
        right("a run has the digest of one on a disk", (code, digest_of(told)) == (0, digest), told)
        code, told = orderly("verify", f"{bucket}/run", **settings)
        right("verify agrees", code == 0, told)
        folder = open_folder(f"{bucket}/run")
        line = folder.names("manifest.jsonl")[0]
        folder.publish(line, (folder.read(line) or b"").replace(b"n_rows", b"n_cows"))
        code, told = orderly("status", f"{bucket}/run", **settings)
        right("a damaged line is noticed", code == 3, told)
        code, told = orderly("run", "2x2", "--out", f"{bucket}/run", "--drop-damaged", **settings)
        right("... and repaired", (code, digest_of(told)) == (0, digest), told)
        code, told = orderly("status", "s3://orderly-no-such-bucket/run", **settings)
        right("a missing bucket is said", code == 3 and "no such bucket" in told, told)
        changed = {**settings, "AWS_SECRET_ACCESS_KEY": "wrong"}
        code, told = orderly("status", f"{bucket}/run", **changed)
        is_said = code == 3 and "AWS_SECRET_ACCESS_KEY" in told
        if name not in ("moto", "s3rver"):  # these take any secret
            right("a wrong secret is said", is_said, told)
        if name.startswith("swift"):  # the others take any region
            changed = {**settings, "AWS_DEFAULT_REGION": "eu-central-7"}
            code, told = orderly("status", f"{bucket}/run", **changed)
            is_said = code == 3 and "AWS_DEFAULT_REGION" in told
            right("a wrong region is said", is_said, told)
        if name == "s3rver":  # it stores the frames of a trailing checksum as content
            changed = {**settings, "AWS_REQUEST_CHECKSUM_CALCULATION": "when_supported"}
            code, told = orderly("run", "2x2", "--out", f"{bucket}/framed", **changed)
            is_said = code == 3 and "changes what it is given" in told
            right("a store that changes what it is given is refused", is_said, told)
        if name == "ceph":
            limited(store, settings, digest)
        if name == "swift-lag":
            lagging(store, settings, f"{bucket}/lag", digest)
    finally:
        for key in settings:
            del os.environ[key]


def limited(store: Store, settings: dict[str, str], digest: str) -> None:
    """Make a user whose rights are those of docs/running.md, and run with its key."""
    import boto3

    key, secret = store.limited
    made = re.search(r"```json\n(.*?)```", (ROOT / "docs/running.md").read_text(), re.DOTALL)
    assert made, "the policy is in the docs"
    policy = json.loads(made[1].replace("BUCKET", "orderly-runs").replace("PREFIX", "limited"))
    for statement in policy["Statement"]:
        statement["Principal"] = {"AWS": "arn:aws:iam:::user/limited"}
    client = boto3.client(
        "s3",
        endpoint_url=store.endpoint,
        aws_access_key_id=store.key,
        aws_secret_access_key=store.secret,
        region_name="us-east-1",
    )
    text = json.dumps({"Version": "2012-10-17", **policy})
    client.put_bucket_policy(Bucket="orderly-runs", Policy=text)
    changed = {**settings, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
    code, told = orderly("run", "2x2", "--out", "s3://orderly-runs/limited", **changed)
    right("a key limited to a prefix can run", (code, digest_of(told)) == (0, digest), told)
    code, told = orderly("run", "2x2", "--out", "s3://orderly-runs/other", **changed)
    is_said = "the key may not do this" in told
    right("... and is told why elsewhere", code in (2, 3) and is_said, told)


class Away(NamedTuple):
    """A run whose store is away from its first part on: what is answered, exit code and words."""

    answer: str
    ended: Future[tuple[int, str]]

    def check(self, name: str, digest: str, outage_s: float) -> None:
        """Wait for its end, and see what it came to."""
        code, told = self.ended.result()
        is_said = "does not answer" in told and "answers again" in told
        is_right = (code, digest_of(told)) == (0, digest) and is_said
        what = f"{self.answer} for {outage_s:.0f} s in mid-run costs nothing"
        right(f"{name}: {what}", is_right, told)


def away(store: Store, outage_s: float, threads: ThreadPoolExecutor) -> list[Away]:
    """Let the store be away by 503, and by silence; both runs only wait, so they go on at the same
    time.
    """
    settings = environment_of(store)
    runs = []
    for status, answer in {503: "503", -1: "silence"}.items():
        out = f"s3://orderly-runs/{answer}"
        ended = threads.submit(_run_while_away, store, settings, out, status, outage_s)
        runs.append(Away(answer, ended))
    return runs


def _run_while_away(
    store: Store, settings: dict[str, str], out: str, status: int, outage_s: float
) -> tuple[int, str]:
    """Return exit code and words of a run that gets ``status`` from its first part on."""
    proxy, began = Proxy(store.endpoint), list[float]()

    def fails(method: str, path: str) -> int:
        if not began and method == "PUT" and "/results/" in path:
            began.append(time.monotonic())
        return status if began and time.monotonic() - began[0] < outage_s else 0

    proxy.fails = fails
    done = orderly("run", "2x2", "--out", out, **{**settings, "AWS_ENDPOINT_URL": proxy.address})
    proxy.stop()
    return done


def lagging(store: Store, settings: dict[str, str], out: str, digest: str) -> None:
    """Stop one container server after the other while a run goes on."""
    stop = threading.Event()

    def disturb() -> None:
        for number in range(1_000):
            process = store.processes[number % len(store.processes)]
            process.send_signal(signal.SIGSTOP)
            stop.wait(5)
            process.send_signal(signal.SIGCONT)
            if stop.wait(2):
                return

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for number in range(3):
            code, told = orderly("run", "2x2", "--out", f"{out}{number}", **settings)
            right(f"run {number + 1} of 3 while container servers come and go",
                  (code, digest_of(told)) == (0, digest), told)  # fmt: skip
            code, told = orderly("status", f"{out}{number}", **settings)
            right("... and its status", code == 0 and digest in told, told)
    finally:
        stop.set()
        thread.join()


def main() -> None:
    """Try the parts that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "orderly-parts"))
    parser.add_argument("--outage", type=float, default=600.0)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    with tempfile.TemporaryDirectory(prefix="orderly-disk-") as disk:
        code, told = orderly("run", "2x2", "--out", f"{disk}/run")
        digest = digest_of(told)
        if code or not digest:
            sys.exit(told)
    absences: dict[str, list[Away]] = {}
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(2 * len(given.parts)) as threads:
        for name in given.parts:
            sys.stdout.write(f"{name}\n")
            began_s = time.monotonic()
            at = tempfile.TemporaryDirectory(prefix="orderly-store-", ignore_cleanup_errors=True)
            store = stack.enter_context(PARTS[name](folder, Path(stack.enter_context(at))))
            check(name, store, digest)
            absences[name] = away(store, given.outage, threads)
            sys.stdout.write(f"  {name} took {time.monotonic() - began_s:.0f} s\n")
        for name, runs in absences.items():
            for run in runs:
                run.check(name, digest, given.outage)
    sys.stdout.write(f"all right: {', '.join(given.parts)}\n")


if __name__ == "__main__":
    main()
