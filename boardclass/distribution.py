"""The name that the project has in the package index, where ``orderly`` belongs to another one.

>>> install("report")
"pip install 'orderly-boggle[report]'"
"""

NAME = "orderly-boggle"


def install(extra: str) -> str:
    """Return the command that installs what an extra brings, such as ``report``."""
    return f"pip install '{NAME}[{extra}]'"
