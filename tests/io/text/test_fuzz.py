"""A short run of the fuzz target in tools/: mutated files, compared with a slow reader."""

import random

import numpy as np
import pytest

import fuzz_svmlight as fuzz

OPTIONS = {"dtype": np.float64, "zero_based": "auto", "n_features": None, "query_id": False}


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files(seed):
    rng = random.Random(f"short {seed}")
    refused = sum(fuzz.check(fuzz.mutated(rng)) for _ in range(500))
    assert 200 < refused < 480  # neither all nor nothing


@pytest.mark.parametrize("text", fuzz.SEEDS)
def test_seeds_are_read(text):
    assert fuzz.reference(text, **OPTIONS).refused is None
    assert not fuzz.check(fuzz.Case(text, {**OPTIONS, "block_bytes": 16}, False))


def test_a_disagreement_is_seen(monkeypatch):
    honest = fuzz.parsed
    monkeypatch.setattr(fuzz, "parsed", lambda *args: honest(*args)._replace(indices=[3]))
    with pytest.raises(AssertionError):
        fuzz.check(fuzz.Case(b"1 2:1\n", OPTIONS, False))
    monkeypatch.setattr(fuzz, "parsed", lambda *args: honest(*args)._replace(refused=2))
    with pytest.raises(AssertionError):
        fuzz.check(fuzz.Case(b"1 2:x\n", OPTIONS, False))
