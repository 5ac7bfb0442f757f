"""Presets load, options override them, and everything else is refused with key, value and a way
out.
"""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from orderly_boggle.boardclass.errors import ConfigError
from orderly_boggle.boardclass.geometry import DIMS
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import DEFAULT_WORDLIST, load_wordlist
from orderly_boggle.configs.model import RunConfig, bundled_names, load_config
from orderly_boggle.search.question import DEFAULT_BUCKETS

QUESTIONS = ("3x5-enable2k", "4x4-enable2k", "4x4-enable2k-words")


def test_presets_are_complete_and_usable():
    sizes = ["2x2", "3x3", "3x4", "3x5", "3x6", "4x4", "4x5"]
    assert bundled_names() == sorted([*sizes, *QUESTIONS])
    for name in sizes:
        config = load_config(name)
        assert (config.dims, config.wordlist, config.cutoff) == (name, DEFAULT_WORDLIST, "auto")
        assert parse_partition(config.buckets, config.dims).n_canonical > 0
        assert parse_scores(config.scores).name == "standard"
        asked = config.resolve(load_wordlist("scowl70"), 1000)
        assert asked.n_fused_first == 0  # as many cells as are open fit a tree
    assert parse_partition(load_config("3x3").buckets, "3x3").n_canonical == 26
    assert all(parse_partition(DEFAULT_BUCKETS, dims).n_classes >= 1 for dims in DIMS)
    # its run goes on: another question, another run
    published, other = load_config("4x4-enable2k"), load_config("4x4")
    assert (published.dims, published.wordlist, published.cutoff, published.order) == (
        "4x4",
        "enable2k",
        3600,
        "ring",
    )
    assert (published.buckets, published.scores) == (other.buckets, other.scores)
    words = load_config("4x4-enable2k-words")
    assert (words.wordlist, words.scores, words.cutoff) == ("enable2k", "words", 1150)


def test_options_override_the_preset_and_none_means_not_given(tmp_path):
    config = load_config(
        "3x3", {"cutoff": 500, "wordlist": "enable2k", "workers": None, "out": tmp_path / "run"}
    )
    assert (config.cutoff, config.wordlist, config.workers, config.out) == (
        500,
        "enable2k",
        0,
        str(tmp_path / "run"),
    )
    assert config.buckets == load_config("3x3").buckets
    assert load_config("3x3", {"cutoff": "500"}).cutoff == 500
    assert load_config("3x3", {"cutoff": "auto", "scores": [1, 2]}).scores == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_config_may_be_saved_by_an_editor_of_windows(tmp_path, encoding):
    path = tmp_path / "mine.toml"
    path.write_bytes('# größer\r\ndims = "3x3"\r\ncutoff = 7\r\n'.encode(encoding))
    assert load_config(path).cutoff == 7


def test_without_a_file_the_dims_choose_the_preset():
    assert load_config(None, {"dims": "3x3"}) == load_config("3x3")
    assert load_config(None, {"dims": "4X3"}).buckets == load_config("3x4").buckets
    assert load_config(None, {"dims": "4x6", "cutoff": 6000}).buckets == DEFAULT_BUCKETS
    with pytest.raises(ConfigError, match="options: 'dims' is missing"):
        load_config(None)


def test_a_file_and_its_search_section(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '\ufeffdims = "3x3"\ncutoff = 500\n[search]\nnode_budget = 1000\nfused = []\n', "utf-8"
    )
    config = load_config(path, {"search": {"memory_mb": 100, "node_budget": None}})
    assert (config.search.node_budget, config.search.memory_mb, config.search.fused) == (
        1000,
        100,
        [],
    )
    assert load_config(str(path)).search.memory_mb is None
    assert RunConfig.model_validate(config.model_dump()) == config
    with pytest.raises(ValidationError, match="frozen"):
        config.cutoff = 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'dims = "3x3"\ncutof = 5\n',
            "line 2: unknown key 'cutof' .value 5.; did you mean 'cutoff'",
        ),
        ('dims = "3x3"\n[serch]\na = 1\n', "line 2: unknown key 'serch'.*did you mean 'search'"),
        (
            'dims = "3x3"\n[search]\nnode_bugdet = 5\n',
            "line 3: unknown key 'search.node_bugdet'.*'search.node_budget'",
        ),
        ("", "'dims' is missing"),
        ("dims = 33\n", "line 1: dims = 33"),
        (
            'dims = "3x3"\ncutoff = 0\n',
            "line 2: cutoff = 0: expected a whole number of at least 1, or 'auto'",
        ),
        ('dims = "3x3"\ncutoff = 1e3\n', "cutoff = 1000.0"),
        ('dims = "3x3"\ncutoff = 99999999999\n', "cutoff = 99999999999"),
        ('dims = "3x3"\nscores = 3\n', "scores = 3: expected 'standard'"),
        ('dims = "3x3"\nscores = [1, "a"]\n', r"scores = \[1, 'a'\]"),
        ('dims = "3x3"\nworkers = -1\n', "workers = -1"),
        ('dims = "3x3"\nsearch = 3\n', "search = 3"),
        ('dims = "3x3"\n[search]\nfused = ["middle"]\n', "line 3: search.fused"),
        ('dims = "3x3"\n[search]\nnode_budget = 0\n', "line 3: search.node_budget = 0"),
        ('dims = "3x3"\n[search]\nunfuse_parts = 1\n', "line 3: search.unfuse_parts = 1"),
        (
            'dims = "3x3"\n[search]\nletter_order = "abc"\n',
            "line 3: search.letter_order = 'abc'.*expected each letter",
        ),
        (
            'dims = "3x3"\n[search]\nforce_groups = ["ab", "b"]\n',
            "line 3: search.force_groups .*each letter a-z",
        ),
        ('dims = "3x3"\ndims = "3x4"\n', """line 2, .* in 'dims = "3x4"'; expected TOML such as"""),
        ("dims = 3x3\n", "at line 1, column 9"),
        ("x = " + "[" * 100_000, "expected TOML such as"),
        ("cutoff = " + "9" * 5000, "expected TOML such as"),
        ('dims = "3x3"\nout = "caf\udce9"\n', "'utf-8' codec can't decode byte 0xe9"),
        ("# " + "x" * 2**20, "more than 1048576 bytes"),
    ],
)
def test_bad_configs_are_refused(tmp_path, text, said):
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=said) as caught:
        load_config(path)
    assert str(path)[:20] in str(caught.value)
    assert len(str(caught.value)) < 700
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"cutoff": "x"}, "options: cutoff = 'x'"),
        ({"bukets": "x"}, "options: unknown key 'bukets'.*did you mean 'buckets'"),
        ({"replicate": 10**400}, "options: replicate = 1000.*a valid number"),
        ({"replicate": True}, "options: replicate = True"),
    ],
)
def test_bad_options_are_refused(overrides, said):
    with pytest.raises(ConfigError, match=said):
        load_config("3x3", overrides)


@pytest.mark.parametrize(
    "source", ["", "3x7", "3x33", "none.toml", "a\0b", "..", "/dev/zero", "x" * 5000]
)
def test_configs_that_are_not_there(source):
    with pytest.raises(
        ConfigError, match="expected a TOML file or one of 2x2, 3x3, 3x4, 3x5"
    ) as caught:
        load_config(source)
    assert len(str(caught.value)) < 400
    assert ("did you mean '3x3'" in str(caught.value)) == (source == "3x33")
