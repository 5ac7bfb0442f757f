"""Bad input to commands on boards and lists: one message that quotes it, exit code 2, nothing printed or written."""

from __future__ import annotations

import shlex

import pytest

from tests.conftest import make_in

LIST = "tea\nate\neat\nrat\ntar\nart\nrate\ntear\nquit\n"
CASES = [
    ("climb -d 0x0", "'0x0'"),
    ("climb", "--dims"),
    ("climb -d 2x2 --exclude a1", "'1'"),
    ("climb -d 2x2 --exclude abcdefghijklmnopqrstuvwxyz", "no letter"),
    ("climb -d 2x2 --from abc", "'abc'"),
    ("climb -d 2x2 --from ébcd", "'é'"),
    ("climb --from tear --exclude t", "'t'"),
    ("climb --from seatxx --contains quit", "does not hold the word 'qit'"),
    ("climb -d 2x2 --contains abcde", "'abcde'"),
    ("climb -d 2x2 --contains bad --exclude d", "'d'"),
    ("climb -d 2x2 --pool 4", "5 runs with a pool of 4"),
    ("climb -d 2x2 --runs 0", "--runs"),
    ("climb -d 2x2 --workers 9999", "--workers"),
    ("climb -d 2x2 --contains ''", "''"),
    ("climb -d 2x2 --pool 1000000000000", "--pool"),
    ("climb -d 2x2 --seed -1", "--seed"),
    ("climb -d 2x2 --scores ''", "''"),
    ("climb -d 2x2 -w ''", "''"),
    ("longest --word ''", "16 cells"),
    ("longest --letters 0", "no word of 16 cells"),
    ("longest -d 2x2 --word tea7", "'tea7'"),
    ("longest -d 2x2 --word abc", "'abc'"),
    ("longest -d 2x3 --letters 9", "9 letters"),
    ("longest -d 5x5 --word aaaaaaaaaaaaaaaaaaaaaaaaa", "--sample"),
    ("neighbours ''", "has 0 cells"),
    ("neighbours aaaa -d 3x3", "'aaaa'"),
    ("neighbours tear --scores 1,x", "'x'"),
    ("lists é", "which is not a tile"),
    ("lists tear --scores ''", "''"),
    ("roll --dice dice.toml", "dice.toml"),
    ("roll --dice garbage.bin", "garbage.bin"),
    ("roll --dice nwe", "did you mean 'new'"),
    ("roll -n 0", "-n"),
    ("show tear --scores 1,2,-3", "'-3'"),
    ("show tear --out tear.gif", "'tear.gif'"),
    ("show tear --word zz --out tear.svg", "'zz'"),
    ("show tear --word tea", "--out"),
    ("show tear --out nosuch/tear.svg", "nosuch/tear.svg"),
    ("show tear -w nosuchlist", "nosuchlist"),
    ("show ''", "0 cells"),
    ("show abcdefgh!", "'!'"),
    ("score", "line 1"),
    ("solve tear --method magic", "'magic'"),
    ("solve tear --begin-only 9", "9"),
    ("solve tear --end-only x", "--end-only"),
    ("score -d 4by4", "4by4"),
    ("bound 't e a'", "'t e a'"),
    ("bound 1 -d 9x9", "'9x9'"),
    ("bound 7", "--dims"),
    ("bound 999 -d 3x3", "999"),
    ("bound 7 -d 3x3 -b 'abc def'", "missing"),
    ("bound 'a b c d1'", "d1"),
    ("bound 'aa b c d'", "aa"),
    ("bound 't e a r' --scores stndard", "stndard"),
    ("bound 't e a r' -b 'aeiou bc'", "'aeiou bc'"),
    ("bound 't e a r' --tree --out tree.gif", "'tree.gif'"),
    ("bound 't e a r' --out nosuch/tree.svg", "nosuch"),
    ("bound 'abcdefghijklm abcdefghijklm abcdefghijklm abcdefghijklm' --tree -w scowl70", "nodes"),
    ("nonsense", "nonsense"),
    ("show", "Error: "),
    ("show tear --format xml", "xml"),
    ("top RUN -n 0", "-n"),
    ("top RUN -n ten", "ten"),
    ("run --workers -1", "workers"),
    ("run --no-such-option", "--no-such-option"),
    ("run --cutoff 12", "--dims"),
    ("run 5x5x5", "5x5x5"),
    ("run -d 2by2", "2by2"),
    ("run 3x3.tml", "3x3"),
    ("run 2x2 --cutoff most", "'most'"),
    ("run 2x2 --cutoff 0", "0"),
    ("run 2x2 --cutoff 99999999999", "99999999999"),
    ("run 2x2 --scores standart", "standart"),
    ("run 2x2 --scores 1,1,x", "'x'"),
    ("run 2x2 --scores 2147483647", "31 bits"),
    ("run 2x2 --buckets 'abc abc'", "missing"),
    ("run 2x2 --buckets 'middle: abcdefghijklmnopqrstuvwxyz'", "middle"),
    ("run 2x2 --wordlist nosuch", "nosuch"),
    ("run 2x2 --wordlist ./garbage.bin", "word list 'garbage.bin'"),
    ("run 2x2 --seed -1", "seed"),
    ("run 2x2 --workers 100000", "workers"),
    ("run 2x2 --out ''", "out"),
    ("run unknown.toml", "'cutof'"),
    ("run garbage.toml", "UTF-8"),
    ("repeat RUN", "--classes"),
    ("repeat RUN --classes 0 --sample 1", "--sample"),
    ("repeat RUN --classes x", "'x'"),
    ("repeat RUN --classes 99999", "99999"),
    ("repeat RUN --sample 1000000", "cannot draw 1,000,000 of"),
    ("certify RUN --classes x", "'x'"),
    ("certify RUN --classes 99999999", "99999999"),
    ("certify RUN --sample 999", "999"),
    ("certify RUN --hot --classes 0", "--hot"),
    ("certify RUN --force 5", "5"),
    ("explain ''", "''"),
    ("explain 99 -d 2x2 -b 'aeiou bcdfghjklmnpqrstvwxyz'", "99"),
    ("explain 3 --run RUN --cutoff 5", "--cutoff"),
    ("explain 12345 --run RUN", "12345"),
    ("explain 'a b c d' --run RUN", "number"),
    ("query RUN ''", "''"),
    ("query RUN 'select 1; select 2'", "one statement"),
    ("query RUN 'select nothing from boards'", "nothing"),
    ("query RUN 'drop table boards'", "DROP"),
    ("query RUN RUN 'select 1'", "twice"),
    ("query nosuch 'select 1'", "'nosuch'"),
    ("compare RUN boards.txt", "line 2"),
    ("compare RUN garbage.bin", "garbage.bin"),
    ("compare RUN nosuch", "'nosuch'"),
    ("top RUN --contains ''", "''"),
    ("top RUN --rollable dice.toml", "dice.toml"),
    ("top RUN --min-words -1", "--min-words"),
    ("report RUN -n -1", "-n"),
    ("report RUN --out nosuch/page.html", "nosuch/page.html"),
    ("report nosuch", "'nosuch'"),
    ("wordlist check garbage.bin", "NUL"),
    ("wordlist check ''", "''"),
    ("wordlist get nosuch", "'nosuch'"),
    ("wordlist get enable2k --url ftp://here", "'ftp://here'"),
    ("wordlist get twl06", "twl06"),
    ("wordlist", "Usage"),
]
TAKES_NO_LIST = ("nonsense", "run", "lists", "query", "compare", "top", "report", "wordlist")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a directory with a run and files that are none of what they are taken for."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "list.txt").write_text(LIST)
    (folder / "garbage.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "garbage.toml").write_bytes(b'dims = "\xff"\n')
    (folder / "unknown.toml").write_text('dims = "2x2"\ncutof = 5\n')
    (folder / "boards.txt").write_text("tear\nabc\n")
    (folder / "dice.toml").write_text("title = 3\n")
    command = ("run", "2x2", "--wordlist", "./list.txt", "--cutoff", "5", "--workers", "0", "--out", "RUN")
    make_in(folder, *command)
    return folder


def words_of(line):
    """Split as a shell does."""
    words = shlex.split(line)
    listless = words[0] in TAKES_NO_LIST or "-w" in words or "--run" in words
    return words if listless else [*words, "-w", "./list.txt"]


@pytest.mark.parametrize(("line", "quoted"), CASES)
def test_bad_input_is_refused(orderly, folder, monkeypatch, line, quoted):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    answer = orderly(*words_of(line), stdin=b"\xff\n")
    assert (answer.code, answer.out) == (2, "") or line == "wordlist"
    assert quoted in answer.err + answer.out
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_every_command_is_tried():
    tried = {line.split()[0] for line, _ in CASES}
    assert tried >= {"climb", "longest", "neighbours", "lists", "roll", "show", "score", "solve", "bound", "explain"}
    assert tried >= {"run", "query", "compare", "top", "report", "wordlist"}


def test_a_directory_without_a_run_is_named(orderly, tmp_path):
    for words in (["query", tmp_path, "select 1"], ["top", tmp_path], ["report", tmp_path], ["compare", tmp_path, "x"]):
        answer = orderly(*words)
        assert (answer.code, answer.out) == (3, ""), words
        assert "holds no run" in answer.err
