from math import isnan

import pytest

from hingeline.bench.peers import Cell
from hingeline.bench.ratios import over_liblinear, regret, speed_up, summary


def group(C=1.0, target=1e-3, dataset="d", **seconds):
    """Return cells of solvers by name; None stands for the deadline of 10 s, a text for another status."""
    cells = {}
    for solver, value in seconds.items():
        status = value if isinstance(value, str) else "ok" if value else "deadline"
        time = value if status == "ok" else 10.0
        cells[solver] = Cell(dataset, C, "hinge", solver, target, status, time, 0.0, 1e-3, 10.0, 0.0)
    return cells


def test_the_best_peer_over_auto():
    assert speed_up(group(auto=0.5, hybrid=0.1, sklearn=3.0, snapml=2.0)) == (4.0, False)
    assert speed_up(group(auto=0.5, sklearn=None, snapml="capped")) == (20.0, True)
    assert isnan(speed_up(group(auto=None, sklearn=3.0)).value)
    assert isnan(speed_up(group(auto=0.5, snapml="missed")).value)
    assert isnan(speed_up(group(sklearn=3.0)).value)


def test_regret_is_against_the_best_engine_alone():
    assert regret(group(auto=0.6, hybrid=0.5, newton=None, baseline=2.0, sklearn=0.1)) == (1.2, False)
    assert regret(group(auto=None, hybrid=0.5)) == (20.0, True)
    assert isnan(regret(group(auto=0.6, hybrid=None)).value)
    assert isnan(regret(group(auto=0.6, sklearn=0.1)).value)


def test_uncapped_liblinear_at_large_C():
    assert over_liblinear(group(C=10.0, auto=0.5, sklearn=3.0, snapml=1.0)) == (6.0, False)
    assert over_liblinear(group(C=1000.0, auto=0.5, sklearn=None, snapml=1.0)) == (20.0, True)
    assert isnan(over_liblinear(group(C=1.0, auto=0.5, sklearn=3.0)).value)


def test_summary():
    lines = summary(
        [
            group(C=1.0, auto=0.5, hybrid=0.25, sklearn=2.0),
            group(C=10.0, auto=0.5, hybrid=0.5, sklearn=None),
            group(C=100.0, auto=None, hybrid=None, sklearn=2.0),
        ]
    )
    assert lines == [
        "best peer / auto: 8.94x in the geometric mean of 2 cells (1 of them lower bounds), 4x in the worst (d, C 1)",
        "sklearn (LIBLINEAR, uncapped) / auto, C >= 10: "
        "20x in the geometric mean of 1 cells (1 of them lower bounds), 20x in the worst (d, C 10)",
        "auto / best engine in hindsight: 1.41x in the geometric mean of 2 cells, 2x in the worst (d, C 1)",
        "auto late although another solver was not: d, C 100",
    ]


@pytest.mark.parametrize("nothing", [[], [{}], [group(sklearn=1.0)]])
def test_nothing_to_say(nothing):
    assert summary(nothing) == []


def test_each_target_has_its_own_line():
    lines = summary([group(auto=1.0, sklearn=2.0), group(target=1e-5, auto=1.0, sklearn=3.0)])
    assert lines[0].startswith("best peer / auto to 0.001: 2x in the geometric mean of 1 cells")
    assert lines[1].startswith("best peer / auto to 1e-05: 3x")
