import os

import pytest

from hingeline.cli import main
from hingeline.cli.options import byte_size
from hingeline.io import open_dataset
from hingeline.progress import CountBar


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text").write_text("1 1:1 3:1\n-1 2:1\n" * 10)
    return tmp_path / "text"


def test_convert(text, tmp_path, capsys):
    assert main(["convert", str(text), str(tmp_path / "set"), "--memory", "64M"]) == 0
    captured = capsys.readouterr()
    assert "20 rows, 3 columns, 30 non-zeros (all 1, not stored)" in captured.out
    assert captured.err == ""
    X, y = open_dataset(tmp_path / "set")
    assert X.shape == (20, 3)
    assert y.tolist() == [1.0, -1.0] * 10


def test_options(text, tmp_path, capsys):
    arguments = ["convert", str(text), str(tmp_path / "set")]
    assert main([*arguments, "--zero-based", "--columns", "9"]) == 0
    assert main(arguments) == 1
    assert "already exists" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert open_dataset(tmp_path / "set")[0].shape == (20, 3)


def test_bad_text_and_wrong_usage(tmp_path, capsys):
    (tmp_path / "text").write_text("1 a:b\n")
    assert main(["convert", str(tmp_path / "text"), str(tmp_path / "set")]) == 1
    assert "line 1" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "nowhere"), str(tmp_path / "set")]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["text"]
    for wrong in (["text"], ["text", "set", "--memory", "many"], ["text", "set", "--columns", "0"]):
        with pytest.raises(SystemExit) as exit:
            main(["convert", *wrong])
        assert exit.value.code == 2


def test_interrupted(text, tmp_path, monkeypatch, capsys):
    def interrupt(self, *now):
        raise KeyboardInterrupt

    monkeypatch.setattr(CountBar, "__call__", interrupt)
    assert main(["convert", str(text), str(tmp_path / "set")]) == 130
    assert os.listdir(tmp_path) == ["text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1000", 1000), ("512M", 512 << 20), ("2G", 2 << 30), ("1.5k", 1536), ("1GiB", 1 << 30), ("3 mb", 3 << 20)],
)
def test_sizes(text, expected):
    assert byte_size(text) == expected


@pytest.mark.parametrize("text", ["", "0", "-1G", "G", "1X", "1e9", "nan"])
def test_sizes_that_are_none(text):
    import argparse

    with pytest.raises(argparse.ArgumentTypeError, match="512M"):
        byte_size(text)
