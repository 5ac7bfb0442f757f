"""Names, options and help of the commands, in the sections of ``orderly --help``; what they do is one folder up.

Only typer is imported here, and a command imports its body when it is called, so that ``--help`` and completion answer
at once.
"""
