"""Errors and help in the words of the command line."""

import pytest

from hingeline.cli import main, parser_of
from hingeline.cli.wording import in_options

PYTHON = ("zero_based", "n_features", "dtype=", "solver=", "format=", "sample_weight", "True", "None")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("index '0' in a file declared as one-based; pass zero_based=True or 'auto'.", "hingeline convert"),
        (
            "'1e400' overflows the type it is read into: scale the data (or read it with dtype=float64).",
            "scale the data.",
        ),
        ('solver="newton" does not train this: use one of hybrid.', "--solver newton does not train this"),
        ("index '9' is beyond n_features: the largest that fits is 3.", "beyond --columns"),
        ("two\nlines", "two lines"),
    ],
)
def test_options_instead_of_parameters(text, expected):
    said = in_options(text)
    assert expected in said
    assert not any(word in said for word in PYTHON)


@pytest.mark.parametrize(
    "words",
    [["train", "zero", "model"], ["predict", "zero", "zero", "out"], ["train", "huge", "model"]],
    ids=" ".join,
)
def test_errors_of_commands(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zero").write_text("1 0:1\n-1 1:1\n")
    (tmp_path / "huge").write_text("1 1:1e999\n-1 1:1\n")
    assert main(words) == 1
    said = capsys.readouterr().err
    assert not any(word in said for word in PYTHON)


def every_parser(parser):
    yield parser
    for action in parser._actions:
        if action.nargs == "A...":  # subparsers
            for name in action.choices:
                yield from every_parser(action.choices[name])


def test_help_shows_no_empty_defaults():
    texts = [parser.format_help() for parser in every_parser(parser_of())]
    assert len(texts) > 12
    for text in texts:
        assert "(default: None)" not in text
        assert "(default: False)" not in text
        assert text.count("(default: (default") == 0
