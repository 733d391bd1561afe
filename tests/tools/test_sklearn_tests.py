"""Scikit-learn's own tests with hingeline's classes: the list of differences, and the run itself."""

import re

import sklearn_tests

LIST = """First reason:
    a/test_a.py::test_one[*-x]
    a/test_a.py::test_two

Second reason:
    b/test_b.py::test_three
"""


def test_a_reason_stands_for_the_tests_below_it():
    reasons = sklearn_tests.read_differences(LIST)
    assert list(reasons.values()) == ["First reason", "First reason", "Second reason"]
    assert sklearn_tests.reason_of("a/test_a.py::test_one[42-x]", reasons) == "a/test_a.py::test_one[*-x]"
    assert sklearn_tests.reason_of("a/test_a.py::test_one[42-y]", reasons) is None
    assert sklearn_tests.reason_of("a/test_a.py::test_two", reasons) == "a/test_a.py::test_two"
    assert sklearn_tests.reason_of("b/test_b.py::test_two", reasons) is None


def test_every_line_names_a_test_of_a_module_that_is_run():
    text = sklearn_tests.DIFFERENCES.read_text(encoding="ascii")
    assert all(line.startswith("    ") or line.endswith(":") or not line for line in text.splitlines())
    for pattern in sklearn_tests.read_differences(text):
        module, _, test = pattern.partition("::")
        assert module in sklearn_tests.MODULES
        assert re.match(r"test_\w+", test), pattern


def test_the_page_tells_every_reason():
    page = (sklearn_tests.ROOT / "docs" / "coming-from-scikit-learn.md").read_text(encoding="utf-8").replace("`", "")
    for reason in set(sklearn_tests.read_differences(sklearn_tests.DIFFERENCES.read_text(encoding="ascii")).values()):
        assert reason.replace("`", "") in page, reason


def test_the_classes_are_swapped_and_a_listed_failure_is_none(capfd):
    assert sklearn_tests.main(["svm/tests/test_svm.py", "-k", "test_linearsvc_parameters", "-p", "no:xdist"]) == 0
    assert re.search(r"4 passed.*4 xfailed", capfd.readouterr().out)
