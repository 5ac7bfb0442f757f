"""The launch files and recipes of docs/clusters.md on real schedulers and launchers of this
machine, nightly.

    python -m tests.schedulers.slurm           a Slurm of two nodes, on loopback
    python -m tests.schedulers.grid_engine     a Grid Engine of one node
    python -m tests.schedulers.launchers       Snakemake, GNU parallel, HyperQueue, Parsl

Each installs what it needs (Debian's packages as root, others into a folder of its own), brings the
part up, runs its cases, prints a table of what came, and ends what it started by pid.  part.py has
what they share.
"""
