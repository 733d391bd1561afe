"""Set-up shared by all tests. Nothing may import numba before this file has run."""

import os

from source_hash import numba_cache_dir

os.environ["NUMBA_CACHE_DIR"] = str(numba_cache_dir())

import compile_once

compile_once.install()
