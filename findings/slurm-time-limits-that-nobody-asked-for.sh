#!/usr/bin/env bash
# submitit, PSI/J, Parsl and dask-jobqueue: a job for which no time is given asks Slurm for 5, 10, 10 or 30 minutes, and Parsl's for
# whole nodes.
#
# Guess: where no time is given none is asked for, so that the limit of the partition holds, as with sbatch.
# Seen: what reaches sbatch: submitit 1.5.4 "--time=5", psij-python 0.9.11 "--time=0:10:0", Parsl 2026.10.26 "--time=10" and
#   "--exclusive", dask-jobqueue 0.9.0 "-t 00:30:00" (and eight cores become four workers).  simple-slurm 0.3.6 asks for nothing.
# What orderly does: its recipe for submitit has timeout_min; docs/clusters.md says what others need.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check submitit==1.5.4 psij-python==0.9.11 parsl==2026.10.26 \
    dask-jobqueue==0.9.0 simple-slurm==0.3.6
mkdir bin home
# in place of Slurm: sbatch writes down what it is given, the others do nothing
cat >bin/sbatch <<'SH'
#!/bin/sh
for argument; do if [ -f "$argument" ]; then cat "$argument" >>"$ASKED"; fi; done
[ $# -gt 0 ] || cat >>"$ASKED"
echo "Submitted batch job 7"
SH
for name in srun squeue scancel sacct; do printf '#!/bin/sh\n' >bin/$name; done
chmod +x bin/*
cat >submit.py <<'PYTHON'
import os
import re
import sys

ASKED = os.environ["ASKED"]


def by_submitit():
    import submitit

    submitit.AutoExecutor("logs", cluster="slurm").submit(abs, -3)


def by_psij():
    import psij

    psij.JobExecutor.get_instance("slurm").submit(psij.Job(psij.JobSpec(executable="/bin/date")))


def by_parsl():
    from parsl.launchers import SingleNodeLauncher
    from parsl.providers import SlurmProvider

    provider = SlurmProvider(launcher=SingleNodeLauncher())
    provider.script_dir = os.getcwd()
    provider.submit("date", 1)


def by_dask_jobqueue():
    from dask_jobqueue import SLURMCluster

    with open(ASKED, "a") as file:
        file.write(SLURMCluster(cores=8, memory="20GB").job_script())


def by_simple_slurm():
    from simple_slurm import Slurm

    Slurm(job_name="share").sbatch("date")


globals()[f"by_{sys.argv[1]}"]()
with open(ASKED) as file:
    script = file.read()
found = re.findall(r"(?m)^#SBATCH +(--time\S*|-t .*|--exclusive|--job-name|-J)", script)
print(sys.argv[1], " ".join(option for option in found if option not in ("--job-name", "-J")) or "nothing")
assert "--job-name" in found or "-J" in found or "--nodes" in script, script
sys.stdout.flush()
os._exit(0)
PYTHON
for name in submitit psij parsl dask_jobqueue simple_slurm; do
    HOME=$work/home ASKED=$work/$name.asked PATH=$work/bin:$PATH env/bin/python submit.py $name 2>$name.log | grep "^$name" >>found
done
cat found
diff found - <<'FOUND' || { echo "this has changed"; exit 1; }
submitit --time=5
psij --time=0:10:0
parsl --time=10 --exclusive
dask_jobqueue -t 00:30:00
simple_slurm nothing
FOUND
echo "as found: four of five ask for a time of their own"
