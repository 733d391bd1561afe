"""What a solver returns, as it is shown."""

from problems import classification

from hingeline import Hinge, solve

X, Y = classification()


def test_a_solution_is_shown_in_one_line():
    text = repr(solve(X, Y, Hinge(), solver="newton"))
    assert text.startswith("Solution(converged: ")
    assert "relative gap" in text
    assert "newton" in text
    assert len(text) < 200


def test_one_that_has_not_converged_says_so():
    assert "NOT CONVERGED: max_iter" in repr(solve(X, Y, Hinge(), solver="avsf", tol=1e-9, max_iter=2, finish=False))
