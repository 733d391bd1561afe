"""The option grammar, against LIBLINEAR's own: the same command lines, valid and invalid."""

import argparse

import numpy as np
import pytest
from svmlight_files import liblinear, make_rows

from hingeline.cli import main
from hingeline.cli.predict_options import parse_predict
from hingeline.cli.train_options import TRAIN_TEXT, parse_train
from hingeline.cli.words import add_words_parser, sort_words
from hingeline.io.records.checkpoint import FIRST_INTERVAL, LONGEST_INTERVAL

VALID = [
    "",
    *(f"-s {s}" for s in (0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 21)),
    "-c 10 -e 0.5 -B 1",
    "-c 1e-3 -e 1e-6 -B -1",
    "-B 0",
    "-B .5 -q",
    "-s 1 -s 3 -c 1 -c 4",
    "-w1 2 -w-1 0.25 -w1 3 -c 2",
    "-w99 2",
    "-p 0 -s 11",
    "-p 0.5 -s 13 -B 1",
    "-s 21 -n 0.1",
    "-n 0.3",
    *(f"-s {s} -B 1 -R" for s in (0, 2, 5, 6, 11)),
    "-v 3 -s 3",
    "-v 5 -s 12",
    "-v 2 -s 21",
    "-C",
    "-C -v 3 -s 0 -c 0.5",
    "-C -s 11 -p 0.5",
    "-C -s 2 -q",
    *("-s 02", "-s +1", "-s -0", "-c +5", "-c 5.", "-c .5", "-e 1e-300", "-e 1e300", "-B -0", "-B 1e3"),
    *("-n 0", "-n 2", "-n 1 -s 21", "-p 1e3 -s 13", "-q -q", "-v +3", "-v 100", "-s 11 -v 2 -p 0", "-s 4 -v 3"),
    *("-w+1 2", "-w0 1", "-w1 0", "-w1 0 -w-1 0", "-w1 2 -w1 0", "-s 4 -w1 2", "-s 21 -w1 2", "-s 21 -B -1"),
    *("-R -B 1 -s 2", "-s 2 -R -B 1", "-s 0 -B 1 -R -R", "-s 7 -e 1e-8 -c 1e10"),
    *("-C -C", "-C -v 2", "-C -e 1e-9", "-C -B 1 -R", "-C -B 1 -R -s 0", "-C -s 11 -c 2 -p 0.3"),
]
INVALID = [
    "-s 8",
    "-s 10",
    "-s 14",
    "-s -1",
    "-s x",
    "-s 1.5",
    "-s",
    "-c 0",
    "-c -1",
    "-c x",
    "-c",
    "-e 0",
    "-e -0.1",
    "-p -1 -s 11",
    "-v 1",
    "-v 0",
    "-v x",
    "-B",
    "-B x",
    "-w1",
    "-w1 x",
    "-wx 1",
    "-R",
    "-R -B 2",
    "-R -B 1",
    *(f"-s {s} -B 1 -R" for s in (1, 3, 4, 7, 12, 13)),
    "-s 2 -B 0.5 -R",
    "-s 21 -B 1",
    "-s 21 -B 0",
    "-C -s 12",
    "-C -s 13",
    "-C -s 21",
    "-z 1",
    "-Q",
    "-s3",
    "-cq",
    *("-s 1e0", "-s 0x1", "-c 1,5", "-c 0x10", "-c -0", "-c 1e-400", "-1 2", "-b 1"),
    *("-v -3", "-v 2.5", "-v 1e1", "-w 2", "-w1.5 2", "-m 1", "-m 0", "-m x"),
    *("-C -c 0", "-C -v 1", "-C -s 11 -p -1"),
]
# hingeline searches C for every classification type; LIBLINEAR for 0 and 2 alone.
BEYOND = [f"-C -s {s}" for s in (1, 3, 4, 5, 6, 7)]
# Sense that LIBLINEAR does not check for.
STRICTER = ["-w1 -2", "-s 13 -p -1", "-c nan", "-e nan", "-c inf", "-c 1_0", "-s 21 -n 0", "-s 21 -n 1.5", "-B inf"]
STRICTER += ["-c 1e400", "-c infinity", "-e inf", "-p nan -s 13", "-p inf -s 11", "-n -1 -s 21", "-n nan -s 21"]
STRICTER += ["-w1 inf", "-w1 nan", "-B nan", "-B -inf"]


@pytest.fixture
def parser():
    return add_words_parser(argparse.ArgumentParser(prog="hingeline").add_subparsers(), "train", "", "DATA", "")


def ours(parser, line):
    return parse_train(parser, [*line.split(), "data"])


def theirs(peer, line):
    """Return LIBLINEAR's parameters, or raise, as its ``train`` does before it begins."""
    X, y = make_rows("signs", n=4)
    problem, parameter = peer.problem(y.astype(float), X), peer.parameter(line)
    problem.set_bias(parameter.bias)
    error = peer.liblinear.check_parameter(problem, parameter)
    if error:
        raise ValueError(error)
    return parameter


@pytest.mark.parametrize("line", VALID)
def test_valid_lines_mean_the_same(line, parser):
    found, expected = ours(parser, line), theirs(liblinear(), line)
    settings = found.settings
    assert settings.type == expected.solver_type
    assert (settings.C, settings.p, settings.nu, settings.eps) == (expected.C, expected.p, expected.nu, expected.eps)
    assert settings.bias == expected.bias
    assert settings.free_bias == (not expected.regularize_bias)
    weights = [(expected.weight_label[i], expected.weight[i]) for i in range(expected.nr_weight)]
    assert list(settings.weights) == weights
    assert found.search == expected.flag_find_parameters
    assert found.folds == (expected.nr_fold or None)
    assert (found.start_C is not None) == expected.flag_C_specified
    assert (found.start_p is not None) == expected.flag_p_specified
    assert found.quiet == ("-q" in line)


@pytest.mark.parametrize("line", INVALID)
def test_invalid_lines_are_refused_by_both(line, parser):
    with pytest.raises((ValueError, IndexError)):
        theirs(liblinear(), line)
    refused(parser, line)


@pytest.mark.parametrize("line", STRICTER)
def test_senseless_lines_are_refused(line, parser):
    refused(parser, line)


def refused(parser, line):
    """Check that a line is an error of the kind that ends with status 1; a value at its end must not be DATA."""
    with pytest.raises(ValueError, match="-"):
        parse_train(parser, ["data", *line.split()])


@pytest.mark.parametrize("line", BEYOND)
def test_searches_beyond_liblinear(line, parser):
    with pytest.raises(ValueError, match="search"):
        theirs(liblinear(), line)
    assert ours(parser, line).search


def test_our_own_options(parser):
    line = "--solver avsf --gap=1e-4 --threads 2 --seed 7 --max-time 9.5 --checkpoint file --checkpoint-every 60 -s 3"
    found = ours(parser, line)
    settings = found.settings
    assert (settings.solver, settings.gap, settings.threads, settings.seed) == ("avsf", 1e-4, 2, 7)
    assert (settings.max_time, found.checkpoint, found.checkpoint_every, settings.type) == (9.5, "file", 60.0, 3)
    assert ours(parser, "").settings.seed == 0


def test_the_help_tells_how_often_the_state_is_saved():
    assert f"(default {FIRST_INTERVAL:g}, growing to {LONGEST_INTERVAL:g})" in TRAIN_TEXT


@pytest.mark.parametrize(
    "line",
    [
        "--solver x data",
        "--gap 0 data",
        "--threads 0 data",
        "--seed -1 data",
        "--max-time x data",
        "--none data",
        "--solv avsf data",
        "data --gap",
        "-v 3 --checkpoint c data",
        "--checkpoint-every 5 data",
        "--checkpoint c --checkpoint-every 0 data",
    ],
)
def test_wrong_use_of_our_own_options(line, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["train", *line.split()])
    assert exit.value.code == 2
    assert "usage: hingeline train [OPTIONS] DATA [MODEL]" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["train", "train a b c", "predict", "predict a b", "predict a b c d"])
def test_a_wrong_number_of_files_has_liblinears_status(line, capsys):
    with pytest.raises(SystemExit) as exit:
        main(line.split())
    assert exit.value.code == 1
    assert "usage: hingeline" in capsys.readouterr().err


def test_files_and_options_in_any_order(parser):
    found = parse_train(parser, ["data", "-s", "3", "model", "--seed", "1", "-B", "-1"])
    assert (found.data, found.model, found.settings.type, found.settings.bias) == ("data", "model", 3, -1.0)
    assert parse_train(parser, ["-"]).data == "-"
    assert parse_train(parser, ["--", "-data"]).data == "-data"
    assert sort_words(["-w-3", "-2", "x"], "", "w") == ([("w-3", "-2")], [], ["x"])


@pytest.mark.parametrize("command", ["train", "predict"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(command, option, capsys):
    with pytest.raises(SystemExit) as exit:
        main([command, option])
    assert exit.value.code == 0
    out = capsys.readouterr().out
    assert f"usage: hingeline {command}" in out
    assert "-q" in out


def test_options_of_predict(parser):
    found = parse_predict(parser, ["-b", "1", "-q", "d", "m", "o"])
    assert (found.data, found.model, found.output, found.probabilities, found.quiet) == ("d", "m", "o", True, True)
    found = parse_predict(parser, ["d", "m", "o"])
    assert (found.data, found.model, found.output, found.probabilities, found.quiet) == ("d", "m", "o", False, False)
    found = parse_predict(parser, ["--scores", "--label", "y", "--json", "d", "m", "o"])
    assert (found.scores, found.label, found.json) == (True, "y", True)
    for line in ("-b 2 d m o", "-b x d m o", "-z d m o", "-b"):
        with pytest.raises(ValueError, match="-"):
            parse_predict(parser, line.split())
    for line in ("d m", "d m o x", ""):
        with pytest.raises(SystemExit):
            parse_predict(parser, line.split())


def test_the_numbers_of_weights_are_exact(parser):
    assert ours(parser, "-w7 0.1").settings.weights == ((7, 0.1),)
    assert np.isclose(ours(parser, "-c +.5e1").settings.C, 5.0)
