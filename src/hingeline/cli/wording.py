"""Errors of functions in the words of the command line: options instead of Python's parameters."""

from __future__ import annotations

import re

# What functions say, and what a command says instead.
_WORDS = (
    (r"pass zero_based=True or 'auto'", "`hingeline convert` takes files whose indices start at 0"),
    (r" \(or read it with dtype=float64\)", ""),
    (r"raise n_features", "raise --columns"),
    (r"beyond n_features(=\d+)?", r"beyond --columns"),
    (r'solver="(\w+)"', r"--solver \1"),
    (r"save (it )?with format='native'", "predict with it in Python (hingeline.io.load_model)"),
    (r"sample_weight", "the weight of the rows"),
)


def in_options(text: str) -> str:
    """Return an error's text in one line, in terms of options."""
    text = " ".join(text.split())
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text
