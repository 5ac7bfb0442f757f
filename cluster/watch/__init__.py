"""The terminal view of a run."""
