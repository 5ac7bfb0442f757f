"""Where units are broken: threads of this process, or Ray actors on many machines.

    Worker               worker.py         one process around a breaker
    executors            executors.py      threads; ray_executor.py: actors
      ray_cluster.py     a private Ray, or one to join; ray_knock.py: is it guarded? ray_metrics.py: for Prometheus

Only ray_*.py import ray.  Uses ``planning`` and ``scheduling``.
"""
