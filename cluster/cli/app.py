"""The ``orderly`` command line: which commands there are, errors and exit codes.

Only typer is imported here, the file of a command when it is asked for, and commands import what
they need, so that ``orderly --help`` answers at once.

Exit codes: 0 done or proved, 1 a bug of ours, 2 bad input, or no room for output, 3 run directory
damaged, of another run or in use, 4 run or certificates incomplete, or stopped (also when results
of such a run are shown), 5 stored evidence does not match, 6 a machine, store or cluster that could
not be reached or failed, 7 a run that the same command does not bring further, 130 another command
interrupted.
"""

import errno
import io
import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperGroup

from orderly_boggle.boardclass.distribution import NAME
from orderly_boggle.boardclass.errors import InputError, OrderlyError, quote
from orderly_boggle.cluster.cli.examples import example_of
from orderly_boggle.cluster.streams import tell

SECTIONS = {  # commands, by the files that they are in
    "Search and prove": {
        "run": "plan tune run merge derive",
        "status": "status",
        "check": "verify repeat certify audit",
    },
    "Watch and look": {"status": "runs watch serve"},
    "Ask what a run found": {"ask": "top query compare report"},
    "Good boards fast, without proof": {"climb": "climb longest", "boards": "neighbours roll"},
    "Single boards": {
        "boards": "show score solve lists",
        "play": "play",
        "paths": "paths",
    },
    "Classes of boards and their bounds": {"explain": "bound explain export"},
    "Word lists": {"wordlist": "wordlist"},
}
PLACES: dict[str, str] = {}
for _files in SECTIONS.values():
    for _file, _commands in _files.items():
        PLACES |= dict.fromkeys(_commands.split(), _file)
EXIT_BUG = 1
EXIT_INPUT = InputError.exit_code
EXIT_INTERRUPTED = 130
# what is left of a command after Ctrl-C, or after a second one
_LEFT = {
    "certify": "what is certified is stored once a minute; the same command goes on after that",
    "verify": "nothing is stored before its end; --quick searches nothing again",
    "repeat": "it stores nothing, and begins anew; what was found again is said above",
    "audit": "only an audit that ends is recorded, so it begins anew; --leaves K checks fewer",
    "derive": "the same command derives again what it has not stored",
}

INTRO = """Proves which Boggle boards score highest, and keeps the evidence.

\b
  orderly run 3x3           prove the best 3x3 board
  orderly top               its best boards; then report, query, verify
  orderly show berlatdes    a board and its words
  orderly climb --dims 4x4  good boards of a larger size in a minute

Boards are written down the columns, or as rows (bld/eae/rts); q is a Qu cell.
orderly COMMAND --help lists the options of a command.
"""
EPILOG = (
    "Exit codes: 0 done or proved, 2 bad input, 3 run directory damaged, foreign or in use, "
    "4 incomplete: run again, 5 mismatch, 6 not reached or failed: try again, 7 no progress."
)


class Sections(TyperGroup):
    """The commands by section, each built when it is asked for: all of them would take longer than
    most commands.
    """

    # typer's own types differ from version to version
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections: commands with their whole first sentence."""
        width = max(map(len, PLACES))
        for title, files in SECTIONS.items():
            with formatter.section(title):
                lines = []
                for name in " ".join(files.values()).split():
                    sentence = self.get_command(ctx, name).get_short_help_str(10**3)
                    lines.append((f"{name:<{width}}", sentence))
                formatter.write_dl(lines)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a name that is none build them all, since typer suggests the
        nearest of them.
        """
        for name in (cmd_name,) if cmd_name in PLACES else PLACES:
            if name not in self.commands:
                command = getattr(import_module(f"orderly_boggle.cluster.cli.{PLACES[name]}"), name)
                group = command
                if not isinstance(command, typer.Typer):
                    group = typer.Typer(add_completion=False, rich_markup_mode=None)
                    group.command(name, epilog=example_of(name))(command)
                self.commands[name] = typer.main.get_command(group)
        return self.commands.get(cmd_name)


# the machine is at fault, not a bug
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge:,} or more",
    "less_than_equal": "{le:,} or less",
}

app = typer.Typer(
    name="orderly",
    cls=Sections,
    help=INTRO,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.callback()
def common(
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> None:
    """Accept the options in front of the command; ``main`` has acted on them already."""


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"orderly {version(NAME)}"
    except PackageNotFoundError:
        return "orderly (not installed, run from its sources)"


def _fail(message: str, code: int) -> int:
    tell(f"orderly: {message}")
    return code


def _interrupted(arguments: list[str]) -> str:
    left = _LEFT.get(next(iter(arguments), ""))
    if left:
        return f"interrupted: {left}"
    return "interrupted"


def _leave_at_once(code: int) -> NoReturn:
    """End without the interpreter's clean-up: where Ctrl-C cut the compilation of a kernel short,
    that would crash.
    """
    sys.stderr.flush()
    os._exit(code)


def _call(arguments: list[str]) -> int:
    """Run one command and return its exit code; everything is printed before this returns or
    raises.
    """
    try:
        if arguments[:1] == ["--version"]:
            sys.stdout.write(f"{_version()}\n")
            result = 0
        else:
            result = app(arguments, prog_name="orderly", standalone_mode=False)
    except typer.Abort as abort:
        if isinstance(abort.__cause__, EOFError):  # of a file: no command leaves Ctrl-D to typer
            raise abort.__cause__ from None
        result = EXIT_INTERRUPTED
    except SystemExit as left:  # rich and typer leave with 1 when nobody reads the output
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        raise
    finally:
        sys.stdout.flush()
    if result == EXIT_INTERRUPTED:
        _leave_at_once(_fail(_interrupted(arguments), EXIT_INTERRUPTED))
    return result if isinstance(result, int) else 0


def _traced(arguments: list[str]) -> int:
    """Run one command; print the traceback of what it raises."""
    try:
        return _call(arguments)
    except Exception:
        traceback.print_exc()
        raise


def _exit_code(arguments: list[str], *, debug: bool) -> int:
    """Run one command; say in one message why it cannot be done, with ``debug`` after the
    traceback.
    """
    try:
        return _traced(arguments) if debug else _call(arguments)
    except OrderlyError as error:
        code = _fail(str(error), error.exit_code)
        if error.leaves_at_once or isinstance(error.__cause__, KeyboardInterrupt):
            _leave_at_once(code)
        return code
    except BrokenPipeError:  # the reader of our output disconnected: there is nobody to tell
        _drop_output()
        return 0
    except FileNotFoundError as error:  # a folder may be deleted under a command
        if not error.filename:
            return _fail(
                "the folder that this command was started in is gone: change to another one",
                EXIT_INPUT,
            )
        gone = (
            f"{quote(os.fsdecode(error.filename))} is gone: something deleted it while the "
            "command ran"
        )
        return _fail(f"{gone}; --debug shows where it was used", EXIT_INPUT)
    except Exception as error:  # noqa: BLE001 - the last line of defence
        from concurrent.futures import BrokenExecutor

        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _drop_output()
            where = ""
            if error.filename:
                where = f" {quote(str(error.filename))}"
            return _fail(
                f"cannot write{where}: {error.strerror}; make room there, or write elsewhere",
                EXIT_INPUT,
            )
        is_no_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
        if is_no_memory or isinstance(error, MemoryError | BrokenExecutor):
            return _fail(
                "out of memory, or a process of this command was ended from outside: end other "
                "programs, or use fewer --workers; what was stored before is safe",
                EXIT_INPUT,
            )
        # the system refused a thread or a process
        if isinstance(error, BlockingIOError) or "start new thread" in str(error):
            return _fail(
                "no more threads allowed (ulimit -u, or a limit of the container): allow more, "
                "or end some; what was stored before is safe",
                EXIT_INPUT,
            )
        if not hasattr(error, "show"):
            bug = f"internal error, {type(error).__name__}: {error}"
            return _fail(f"{bug}\nThis is a bug; --debug shows where it happened.", EXIT_BUG)
        _make_plain(error)  # one of typer's own: usage, missing argument
        error.show()
        return int(getattr(error, "exit_code", EXIT_INPUT))


def _make_plain(error: Any) -> None:
    """Let a usage error say what was given and what was expected: typer passes on what pydantic
    says to programmers.
    """
    errors = getattr(error.__cause__, "errors", None)  # pydantic's
    if not callable(errors):
        return
    first = errors()[0]
    if first["type"] in _EXPECTED:
        expected = _EXPECTED[first["type"]].format(**first.get("ctx", {}))
        error.message = f"{quote(first['input'])}, expected {expected.replace('.0 ', ' ')}"
    else:
        error.message = error.message.removeprefix("Value error, ")


def _drop_output() -> None:
    """Discard what is still to be printed, or the interpreter would try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line and leave with its exit code; ``--debug`` is accepted anywhere."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may know few letters
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    debug = bool(os.environ.get("ORDERLY_DEBUG"))
    if "--" in arguments:
        end = arguments.index("--")
    else:
        end = len(arguments)
    while "--debug" in arguments[:end]:
        arguments.remove("--debug")
        debug = True
        end = end - 1
    try:
        code = _exit_code(arguments, debug=debug)
    except KeyboardInterrupt:  # Ctrl-C while the reason of a failure was printed
        _leave_at_once(EXIT_INTERRUPTED)
    sys.exit(code)
