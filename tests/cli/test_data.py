import json

import pytest

from hingeline.cli import main
from hingeline.io import open_dataset


@pytest.fixture(autouse=True)
def kept_in(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGELINE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def fields(output):
    return dict(line.split(maxsplit=1) for line in output.splitlines())


def test_list(capsys, kept_in):
    (kept_in / "a9a").mkdir(parents=True)
    assert main(["data", "list"]) == 0
    output = capsys.readouterr().out
    assert "kddb   19,264,097  29,890,095    566,345,888\n" in output
    assert "a9a       32,561         123        451,592   yes\n" in output
    assert str(kept_in) in output
    assert output.isascii()


def test_info_of_a_name(capsys):
    assert main(["data", "info", "url_combined"]) == 0
    output = capsys.readouterr().out
    assert "datasets/binary/url_combined.bz2" in output
    assert "277,058,644" in output
    assert "hingeline data fetch url_combined" in output


def test_info_of_a_file_and_of_a_dataset(tmp_path, capsys, kept_in):
    (tmp_path / "text").write_text("1 1:1 3:2\n-1 2:1\n-1\n")
    assert main(["data", "info", "text"]) == 0
    found = fields(capsys.readouterr().out)
    assert [found[name] for name in ("rows", "columns", "non-zeros", "density")] == ["3", "3", "3", "0.333"]
    assert found["per"] == "row    1 (from 0 to 2)"
    assert found["labels"] == "-1: 2, 1: 1"
    assert main(["convert", "text", str(kept_in / "w8a")]) == 0
    capsys.readouterr()
    assert main(["data", "info", "w8a"]) == 0
    output = capsys.readouterr().out
    assert "web pages" in output
    assert fields(output)["labels"] == "-1: 2, 1: 1"


def test_info_of_many_labels(tmp_path, capsys):
    (tmp_path / "text").write_text("".join(f"{k} 1:1\n" for k in range(25)))
    assert main(["data", "info", "text"]) == 0
    assert "19: 1, and 5 more\n" in capsys.readouterr().out
    (tmp_path / "text").write_text("".join(f"{k} 1:1\n" for k in range(1200)))
    assert main(["data", "info", "text"]) == 0
    assert "too many for classes" in capsys.readouterr().out


def test_make(tmp_path, capsys):
    size = ["--rows", "50", "--columns", "20", "--nnz", "3"]
    arguments = ["data", "make", *size, "--zipf", "0.9", "--noise", "0", "out"]
    assert main(arguments) == 0
    assert "50 rows, 20 columns, 150 non-zeros (all 1, not stored)" in capsys.readouterr().out
    assert main(arguments) == 1
    assert main([*arguments, "--force", "--values", "--seed", "3"]) == 0
    X, y = open_dataset(tmp_path / "out")
    assert X.shape == (50, 20)
    assert X.data.strides == (4,)
    assert set(y) == {-1, 1}


def test_fetch(monkeypatch, capsys, kept_in, tmp_path):
    from hingeline.io.dataset.convert import convert

    (tmp_path / "text").write_text("1 1:1\n-1 2:1\n")
    seen = {}

    def fetch(entry, folder, **options):
        seen.update(options, name=entry.name, folder=folder)
        return convert(tmp_path / "text", folder / entry.name)

    monkeypatch.setattr("hingeline.io.dataset.fetch.fetch", fetch)
    arguments = ["--url", "http://mirror", "--sha256", "ab", "--keep", "--memory", "1M", "--force"]
    assert main(["data", "fetch", "a9a", *arguments]) == 0
    captured = capsys.readouterr()
    assert "2 rows, 2 columns" in captured.out
    assert captured.err.splitlines() == [
        "http://mirror/binary/a9a (licence: CC BY 4.0 (UCI Machine Learning Repository))",
        "warning: the size differs from the expected 32,561 rows, 451,592 non-zeros",
    ]
    assert seen["name"] == "a9a"
    assert seen["folder"] == kept_in
    assert (seen["base"], seen["sha256"], seen["keep"], seen["force"]) == ("http://mirror", "ab", True, True)
    assert seen["memory"] == 1 << 20


def test_bad_input_and_wrong_usage(capsys):
    assert main(["data", "info", "nowhere"]) == 1
    assert "no such file" in capsys.readouterr().err
    assert main(["data", "fetch", "nothing"]) == 1
    assert "data list" in capsys.readouterr().err
    assert main(["data", "make", "--rows", "5", "--cols", "2", "--nnz", "3", "out"]) == 1
    assert "between 1 and 2" in capsys.readouterr().err
    for wrong in ([], ["fetch"], ["make", "out"], ["make", "--rows", "0", "--cols", "1", "--nnz", "1", "out"], ["x"]):
        with pytest.raises(SystemExit) as exit:
            main(["data", *wrong])
        assert exit.value.code == 2


def test_info_as_json(tmp_path, capsys):
    (tmp_path / "text").write_text("1 1:1 3:2\n-1 2:1\n-1\n")
    assert main(["data", "info", "text", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["catalogue"] is None
    assert found["statistics"]["rows"] == 3
    assert found["statistics"]["label_counts"] == [{"label": -1.0, "rows": 2}, {"label": 1.0, "rows": 1}]
    assert main(["data", "info", "url_combined", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["catalogue"]["nonzeros"] == 277058644
    assert found["statistics"] is None
