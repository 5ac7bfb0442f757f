"""Where a run is kept: a directory or an object store, published atomically, with one driver per
run.

    open_folder -> LocalFolder    local.py     a directory of this machine; opens nothing through
                                  links
                -> ObjectFolder   objects.py   a bucket; addresses.py: how it is named;
                                  object_lines.py: lines of a manifest in it
    take_lock                     lock.py      who may write to it: one driver
    Owner                         owner.py     who that is, and whether it still runs
    files.py                                   the names of everything in a run

Knows nothing of what the files hold.  Uses ``results.errors`` only.
"""
