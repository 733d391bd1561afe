import sys

import processes
import pytest

import hingeline
from hingeline.cli import demo, main, parser_of
from hingeline.cli.predict_options import parse_predict
from hingeline.cli.train_options import parse_train


def test_version(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == f"hingeline {hingeline.__version__}\n"


def test_wrong_usage():
    with pytest.raises(SystemExit) as exit:
        main(["no-such-command"])
    assert exit.value.code == 2


def test_without_a_command_there_is_help_with_examples_that_parse(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    examples = [line.split("   ")[0].split() for line in out.splitlines() if line.startswith("  hingeline ")]
    assert len(examples) > 3
    for _, command, *words in examples:
        args = parser_of([command]).parse_args([command, *words])
        if command in ("train", "predict"):
            {"train": parse_train, "predict": parse_predict}[command](args.parser, args.words)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (ValueError("C must be positive\nsee the docs"), 1, "hingeline: C must be positive see the docs\n"),
        (FileNotFoundError(2, "No such file", "data.txt"), 1, "hingeline: [Errno 2] No such file: 'data.txt'\n"),
    ],
)
def test_what_ends_a_command(error, status, message, monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(demo, "run", fail)
    assert main(["demo"]) == status
    assert capsys.readouterr().err == message


def test_a_reader_that_leaves_causes_no_traceback():
    code = "import sys; from hingeline.cli import main; sys.exit(main(['demo', '--help']))"
    with processes.started([sys.executable, "-c", code]) as process:
        process.stdout.close()
        error = process.stderr.read()
        process.wait(timeout=60)
    assert "Traceback" not in error
