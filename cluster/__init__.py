"""cluster: who computes what, where, and what becomes of it when machines die; and the command line.

    cli.py -> driver.run -> plan.make_plan          config -> everything validated
                         -> loop.run_loop           carries events and instructions between
                              scheduler.Scheduler   events in, instructions out; backlog.py, policy.py
                              executors, ray_executor   threads or Ray actors around worker.Worker
                                ray_cluster             a private Ray, or one to join; ray_knock: is it guarded?
                              ledger.Ledger         accepted verdicts -> rows of the store
                         -> rescore, coverage, claim (results)
    events.py is the language they speak; progress.py what a person sees meanwhile, journal.py what is noted for later,
    ray_metrics.py what Prometheus reads.

    cli.py, cli_workbench.py                the commands; cli_options.py what they share; cli_*.py what they do
      render.py, draw_tree.py               tables, boards, trees as text
    watch/                                  runs as they are seen from outside, and in the terminal
    web/                                    orderly serve: the same, boards and classes in a browser

Exports nothing: import the modules.  Only ray_*.py import ray.
"""
