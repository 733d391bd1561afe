import csv
import json
import sys

import pytest
from bench.files import install_fake_peers, run_here, write_data

from hingeline.cli import bench_common, bench_peers, main


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    write_data(tmp_path / "data" / "a9a.xz")
    write_data(tmp_path / "data" / "url_combined", n_rows=60)


def rows_of(output, first):
    return [line.split() for line in output.splitlines() if line.split()[:1] == [first]]


def test_paper_prints_tables_and_writes_csv_and_figure(capsys, tmp_path, monkeypatch):
    arguments = ["bench", "paper", "--c", "0.01", "1", "--eps", "0.01", "0.001", "--out", "out"]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert output.isascii()
    assert rows_of(output, "url")[0] == ["url", "60", "15", "2,396,130", "3,231,961"]
    assert "Table 2: seconds and steps, eps 0.01" in output
    assert "Table 3: seconds and steps, eps 0.001" in output
    assert rows_of(output, "paper's") == [
        ["paper's", "baseline", "s", "67.9", "4,140"],
        ["paper's", "avsf", "s", "135", "658"],
        ["paper's", "baseline", "s", "139", "22,100"],
        ["paper's", "avsf", "s", "202", "3,660"],
    ]
    assert len(rows_of(output, "auto")) == 2
    with (tmp_path / "out" / "paper.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * 2 * 3
    assert (tmp_path / "out" / "paper.png").read_bytes().startswith(b"\x89PNG")

    monkeypatch.setattr("hingeline.bench.training.Trainer.train", lambda *args: pytest.fail("ran again"))
    assert main(arguments) == 0
    assert "12 results are from an earlier run" in capsys.readouterr().out


def test_paper_marks_what_the_deadline_ended(capsys):
    arguments = ["--datasets", "a9a", "url", "kdda", "--c", "1000", "--eps", "1e-3", "--deadline", "1e-9"]
    assert main(["bench", "paper", *arguments]) == 0
    captured = capsys.readouterr()
    assert rows_of(captured.out, "a9a")[1] == ["a9a", "baseline", "s", "---"]
    assert "--- not finished after 1e-09 s" in captured.out
    assert captured.err == "skipped: kdda, not found in --data-dir\n"


def test_paper_gives_means_over_seeds(capsys, tmp_path):
    assert main(["bench", "paper", "--datasets", "a9a", "--c", "1", "--eps", "0.01", "--seeds", "2"]) == 0
    assert "eps 0.01, means of 2 seeds" in capsys.readouterr().out
    with (tmp_path / bench_common.OUT / "paper.csv").open(newline="") as file:
        assert [row["seeds"] for row in csv.DictReader(file)] == ["2"] * 3


def test_peers_prints_a_table_and_writes_csv_and_plots(capsys, tmp_path, monkeypatch):
    install_fake_peers(tmp_path / "peers", monkeypatch)
    names = ["auto", "fake_peer:Good", "fake_peer:NoHinge", "no_such_package:Solver"]
    arguments = ["--datasets", "a9a", "--c", "1", "--subopt", "1e-2", "--peers", *names]
    assert main(["bench", "peers", *arguments, "--deadline", "20", "--out", "out"]) == 0
    captured = capsys.readouterr()
    (row,) = rows_of(captured.out, "a9a")
    assert row[1:3] == ["1", "0.01"]
    assert float(row[3]) > 0.0
    assert float(row[4]) > 0.0
    assert row[5] == "n/a"
    assert float(row[6]) == pytest.approx(float(row[4]) / float(row[3]), rel=0.02)
    assert "n/a: does not take this loss or data" in captured.out
    assert "best peer / auto:" in captured.out
    assert "skipped, since it is not installed: no_such_package" in captured.err
    with (tmp_path / "out" / "peers-hinge.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["ok", "ok", "unsupported"]
    assert (tmp_path / "out" / "peers-hinge-0.01.png").exists()


def test_peers_with_an_intercept_on_three_classes(capsys, tmp_path, monkeypatch):
    install_fake_peers(tmp_path / "peers", monkeypatch)
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    write_data(tmp_path / "data" / "mnist20k.scale.xz", classes=3)
    arguments = ["--loss", "squared_hinge", "--intercept", "--c", "10", "--subopt", "1e-2", "--repeat", "3"]
    names = ["auto", "hybrid", "fake_peer:Good"]
    arguments += ["--datasets", "mnist20k", "--peers", *names, "--deadline", "20", "--out", "out"]
    assert main(["bench", "peers", *arguments]) == 0
    output = capsys.readouterr().out
    assert "squared hinge loss, intercept; seconds to relative suboptimality" in output
    assert "median of 3 runs" in output
    assert "auto / best engine in hindsight: " in output
    with (tmp_path / "out" / "peers-squared_hinge-intercept.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["solver"], row["status"], row["intercept"]) for row in rows] == [
        (name, "ok", "True") for name in names
    ]
    assert (tmp_path / "out" / "peers-squared_hinge-intercept-0.01.png").exists()
    assert not (tmp_path / "out" / "peers-squared_hinge.csv").exists()


def test_peers_with_an_l1_penalty(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    problem = ["--loss", "squared_hinge", "--penalty", "l1"]
    arguments = ["--datasets", "a9a", "--c", "1", "--subopt", "1e-2", "--peers", "auto", "sklearn-primal", "newton"]
    assert main(["bench", "peers", *problem, *arguments, "--deadline", "20", "--out", "out"]) == 0
    assert "squared hinge loss, L1 penalty; seconds" in capsys.readouterr().out
    with (tmp_path / "out" / "peers-squared_hinge-l1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["status"], row["penalty"]) for row in rows] == [("ok", "l1"), ("ok", "l1"), ("unsupported", "l1")]
    assert rows[2]["note"] == "has no squared hinge loss with an L1 penalty"
    found = json.loads((tmp_path / "out" / "peers-squared_hinge-l1.json").read_text())
    assert found["penalty"] == "l1"
    assert "--loss squared_hinge --penalty l1 --subopt" in found["commands"][0]


@pytest.mark.filterwarnings("ignore")  # scikit-learn's, of which workers say nothing
def test_peers_by_the_gap_of_their_own_weights(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    monkeypatch.setattr("hingeline.bench.peer_solvers.UNLIMITED", 10_000)  # nobody kills it here
    problem = ["--loss", "logistic", "--penalty", "l1", "--intercept", "--own-gap"]
    arguments = ["--datasets", "a9a", "--c", "1", "--subopt", "1e-2", "--peers", "auto", "sklearn-primal"]
    assert main(["bench", "peers", *problem, *arguments, "--deadline", "20", "--out", "out"]) == 0
    output = capsys.readouterr().out
    assert output.split()[:3] == ["data", "C", "gap"]
    assert "logistic loss, L1 penalty, intercept; seconds to the relative duality gap that a solver's own" in output
    name = "peers-logistic-l1-intercept-own-gap"
    with (tmp_path / "out" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["status"], row["own_gap"]) for row in rows] == [("ok", "True")] * 2
    assert all(-1e-12 < float(row["suboptimality"]) <= 1e-2 for row in rows)
    found = json.loads((tmp_path / "out" / f"{name}.json").read_text())
    assert "--intercept --own-gap --subopt" in found["commands"][0]
    assert not (tmp_path / "out" / "optima.jsonl").exists()


def test_own_gap_needs_an_l1_penalty(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["bench", "peers", "--datasets", "a9a", "--loss", "squared_hinge", "--own-gap"])
    assert exit.value.code == 2
    assert "error: --own-gap: only with --penalty l1" in capsys.readouterr().err


def test_steps_prints_a_table_and_goes_on_from_what_is_there(capsys, tmp_path, monkeypatch):
    arguments = ["bench", "steps", "--datasets", "a9a", "--c", "0.1", "1", "--seeds", "2", "--gap", "1e-2"]
    assert main([*arguments, "--out", "out"]) == 0
    first = capsys.readouterr().out
    rows = rows_of(first, "a9a")
    assert [row[1] for row in rows] == ["0.1", "1"]
    for row in rows:
        steps = [float(text) for text in row[2:5]]
        assert float(row[5]) == pytest.approx(steps[2] / min(steps[:2]), abs=1e-2)
    assert "to a relative duality gap of 0.01, median of 2 seeds" in first
    assert "x in the worst of 2 cells (a9a, C " in first
    assert "C >= 1: " in first
    with (tmp_path / "out" / "steps.csv").open(newline="") as file:
        assert [row["solver"] for row in csv.DictReader(file)] == ["baseline", "avsf", "hybrid"] * 2
    monkeypatch.setattr("hingeline.bench.training.Trainer.train", lambda *args: pytest.fail("ran again"))
    assert main([*arguments, "--out", "out"]) == 0
    assert capsys.readouterr().out.replace("12 results are from an earlier run", "").startswith(first)


def test_steps_tells_what_was_late(capsys):
    assert main(["bench", "steps", "--datasets", "a9a", "--c", "1000", "--gap", "1e-6", "--deadline", "1e-9"]) == 0
    output = capsys.readouterr().out
    assert rows_of(output, "a9a") == [["a9a", "1000", *[">1e-09", "s"] * 3]]
    assert "> at least half of the seeds had not finished" in output
    assert "worst" not in output


def test_missing_peers_are_skipped_with_a_word(capsys, monkeypatch):
    missing = ("liblinear", "snapml", "pyspark")
    monkeypatch.setattr("hingeline.bench.solvers.find_spec", lambda name: None if name in missing else object())
    there = ["baseline", "avsf", "hybrid", "newton", "auto", "sklearn", "rehline"]
    assert bench_peers._installed(None, "hinge", "l2") == there
    error = capsys.readouterr().err
    assert "not installed: liblinear-official" in error
    assert error.count("not installed: snapml") == 1
    assert "pip install snapml" in error


def test_losses_that_a_peer_lacks_have_no_column(monkeypatch):
    monkeypatch.setattr("hingeline.bench.solvers.find_spec", lambda name: object())
    assert {"liblinear-primal", "sklearn-auto", "newton_cg"} <= set(bench_peers._installed(None, "squared_hinge", "l2"))
    assert "liblinear-primal" not in bench_peers._installed(None, "hinge", "l2")
    coordinates = ["baseline", "avsf", "hybrid", "auto", "liblinear", "sklearn-primal"]
    assert bench_peers._installed(None, "squared_hinge", "l1") == coordinates
    assert bench_peers._installed(None, "logistic", "l1") == [*coordinates, "celer", "skglm"]
    assert bench_peers._installed(["newton", "hybrid"], "logistic", "l1") == ["newton", "hybrid"]  # since asked for
    with pytest.raises(ValueError, match="none of the solvers takes --loss hinge with --penalty l1"):
        bench_peers._installed(None, "hinge", "l1")


def test_without_matplotlib_there_are_tables_and_advice(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("hingeline.cli.plots.find_spec", lambda name: None)
    assert main(["bench", "paper", "--datasets", "a9a", "--c", "1", "--eps", "0.1"]) == 0
    captured = capsys.readouterr()
    assert "pip install matplotlib" in captured.err
    assert "Not in the paper: seconds and steps, eps 0.1" in captured.out
    assert not list((tmp_path / bench_common.OUT).glob("*.png"))


def test_data_that_cannot_be_used(capsys, tmp_path):
    (tmp_path / "data" / "digits").write_text("1 1:1\n2 1:2\n3 1:3\n")
    assert main(["bench", "paper", "--datasets", "digits"]) == 1
    error = capsys.readouterr().err
    assert "skipped: digits has 3 labels: this experiment needs two." in error
    assert "found none of digits" in error
    assert main(["bench", "peers", "--data-dir", "nowhere"]) == 1
    assert "there is no such folder" in capsys.readouterr().err


def test_unknown_solver(capsys):
    assert main(["bench", "peers", "--peers", "svm"]) == 1
    assert "unknown solver 'svm'" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [[], ["peers", "--c", "0"], ["peers", "--loss", "log"], ["paper", "--eps", "no"]])
def test_wrong_usage(wrong, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["bench", *wrong])
    assert exit.value.code == 2
    assert "usage: hingeline bench" in capsys.readouterr().err


def test_help_loads_no_solver(capsys):
    before = set(sys.modules)
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    assert "paper" in capsys.readouterr().out
    assert not {"snapml", "liblinear", "rehline"} & (set(sys.modules) - before)


def test_json(capsys):
    assert main(["bench", "paper", "--datasets", "a9a", "--c", "1", "--eps", "0.01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {cell["solver"] for cell in found["cells"]} >= {"baseline", "avsf"}
    assert (
        main(["bench", "steps", "--datasets", "a9a", "--c", "1", "--seeds", "1", "--deadline", "1e-9", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["cells"][0]["steps"] is None  # not finished


def test_gpu(tmp_path, monkeypatch, capsys):
    """PyTorch's CPU stands in for a GPU."""
    pytest.importorskip("torch", reason="needs PyTorch")
    monkeypatch.setattr("hingeline.bench.gpu.REPEATS", 1)
    out = tmp_path / "out"
    arguments = ["--device", "cpu", "--datasets", "made", "--rows", "3000", "--c", "1", "--eps", "0.01"]
    assert main(["bench", "gpu", *arguments, "--loss", "squared_hinge", "--out", str(out)]) == 0
    with (out / "gpu.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert [cell["engine"] for cell in cells] == ["gpu", "cpu 1", "L-BFGS"]
    assert all(0.0 < float(cell["seconds"]) < 60.0 for cell in cells)
    assert float(cells[0]["gap"]) < 1e-3
    assert "of copying" in capsys.readouterr().out
