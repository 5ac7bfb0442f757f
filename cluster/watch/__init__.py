"""cluster.watch: ``orderly watch``, a run in the terminal."""
