"""Where a run is kept: a directory or an object store, published atomically, with one driver per run.

    open_folder -> LocalFolder    local.py     a directory of this machine; plain.py opens nothing through links
                -> ObjectFolder   objects.py   a bucket; address.py: how it is named
    Folder                        folder.py    what both can do
    files                         files.py     the names of everything in a run
    RunLock                       lock.py      lease.py and owner.py: who holds it

Knows nothing of what the files hold.  Uses ``results.errors`` only.
"""
