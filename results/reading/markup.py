"""How HTML templates are filled in: nothing that a run, a list or a user says can become markup.

>>> templates(Path()).from_string("{{ text }}").render(text="<b>")
'&lt;b&gt;'
"""

from pathlib import Path

import jinja2

from orderly_boggle.boardclass.printable import counted, printable


def templates(folder: Path) -> jinja2.Environment:
    """Return the environment of the templates in a folder."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # our own markup is never a str
        finalize=lambda value: printable(value, "\n") if type(value) is str else value,
    )
    environment.filters |= {"count": "{:,}".format, "counted": counted}
    return environment
