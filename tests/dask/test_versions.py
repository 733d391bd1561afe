"""Workers with another version are refused; a worker that is lost meanwhile is not one of them."""

import pytest
from distributed.comm import CommClosedError

from hingeline.dask.versions import check_workers
from hingeline.version import __version__


class Answers:
    """A client whose workers answer as they are told to."""

    def __init__(self, **found):
        self.found = found

    def run(self, function, on_error):
        return self.found


@pytest.mark.parametrize("other", ["0.0.9", ModuleNotFoundError("No module named 'hingeline'")])
def test_another_version_is_refused(other):
    with pytest.raises(RuntimeError, match=f"Worker b has hingeline .*, but the client has {__version__}"):
        check_workers(Answers(a=__version__, b=other))


def test_a_worker_that_is_just_lost_is_left_out():
    check_workers(Answers(a=__version__, b=CommClosedError("in <TCP (closed)>"), c=ConnectionResetError()))
