"""Where units are broken: threads of this process, processes of this machine, or Ray actors on many
machines.

    Worker               worker.py         one thread or process around a breaker
    executors            executors.py      the contract; threads and processes; process.py: a worker
                         in a process
      ray_executor.py    actors            ray_cluster.py: who may be joined
    machine_memory       memory.py         what is free, within the limits of control groups

Only ray_*.py import ray.  Uses ``scheduling``.
"""
