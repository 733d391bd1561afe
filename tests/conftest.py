"""Set-up shared by all tests. Nothing may import numba before this file has run."""

import os
import signal

from source_hash import numba_cache_dir

os.environ["NUMBA_CACHE_DIR"] = str(numba_cache_dir())

import compile_once
from hypothesis import settings

compile_once.install()
# The same examples in every run: a search for others is a matter of its own.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: Ctrl-C is tested there too
    signal.signal(signal.SIGINT, signal.default_int_handler)
