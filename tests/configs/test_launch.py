"""The files in configs/launch, by the rules of their readers: Ray's launcher, Kubernetes, KubeRay,
Docker.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.main import get_command

from cluster.cli.app import app
from configs.model import load_config
from tests.conftest import ROOT

yaml = pytest.importorskip("yaml", reason="comes with Ray")

LAUNCH = ROOT / "configs" / "launch"
AWS = yaml.safe_load((LAUNCH / "aws.yaml").read_text())
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
    known = {
        name: value for name, value in params.items() if value is not None and value is not False
    }
    return load_config(source, known)


def test_ray_accepts_the_launcher_file():
    util = pytest.importorskip("ray.autoscaler._private.util")
    util.validate_config(util.prepare_config(AWS))


def test_the_head_only_drives_and_workers_are_preemptible():
    head, worker = AWS["available_node_types"]["head"], AWS["available_node_types"]["worker"]
    assert AWS["head_node_type"] == "head"
    assert head["resources"]["CPU"] == 0
    assert "InstanceMarketOptions" not in head["node_config"]
    assert worker["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}
    assert "--num-cpus=0" in AWS["head_start_ray_commands"][-1]
    assert CLUSTER["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (group,) = CLUSTER["workerGroupSpecs"]
    assert any("spot" in key for key in group["template"]["spec"]["nodeSelector"])


def test_tokens_are_on_and_never_written_down():
    starts = AWS["head_start_ray_commands"] + AWS["worker_start_ray_commands"]
    assert all("RAY_AUTH_MODE=token" in command for command in starts if "ray start" in command)
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


def test_every_command_is_one_that_orderly_understands():
    found = [JOB["spec"]["entrypoint"]]
    for path in (*LAUNCH.iterdir(), ROOT / "docs" / "clusters.md"):
        found += re.findall(r"orderly run [^'\n]*--address[^'\n]*", path.read_text())
    assert len(found) >= 4
    assert all(check_command(text).address for text in found)


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
    found = re.findall(
        r"^.*\bray(?:\[default\])?==([0-9.]+)", (LAUNCH / "aws.yaml").read_text(), re.MULTILINE
    )
    assert {*found, pinned[canonicalize_name("ray")]} == {CLUSTER["rayVersion"]}
    assert len(found) >= 2
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
