"""cluster.web: ``orderly serve``, the local web application: runs, records, boards and classes to
look at.

    serve                       server.py    an address of this machine with a random token, and the
                                server behind it; who is answered at all: host, token; headers of
                                every answer
      app.py, templates/        which address gets which answer; pages, which static/*.js fills with
                                JSON about runs, boards and classes
        site.py                 what is known of each run: cluster.watch reads locks and logs,
                                jobs.py the rows
        job_queue.py -> jobs.py   what takes longer, in processes of its own with limits on time
                                  and memory

Read only.  The server process reads locks and event logs; Parquet, word lists and kernels are left
to the processes.
"""
