"""JSON that is accepted only if it is as it should be."""

import json

import pytest

from hingeline.io.records.json_file import JsonFileError, check, read_json, write_json

SCHEMA = {"a": int, "b": [(float, None)], "c": {"*": (str, bool)}, "d": ([{"x": str}], None)}
GOOD = {"a": 3, "b": [1, 0.5, None], "c": {"k": "v", "l": True}, "d": [{"x": "y", "more": 1}]}


def written(tmp_path, document, **head):
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"format": "a test", "version": 1, **document} | head))
    return path


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "file.json"
    write_json(path, "a test", 1, GOOD)
    assert read_json(path, "a test", 1, SCHEMA) == {"format": "a test", "version": 1, **GOOD}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": -1}, "a should be a whole number"),
        ({"a": True}, "a should be a whole number"),
        ({"a": 2**60}, "a should be a whole number"),
        ({"a": 1.0}, "a should be a whole number"),
        ({"b": 1}, "b should be a list"),
        ({"b": [1, "2"]}, r"b\[1\] should be a finite number or null"),
        ({"b": [10**400]}, r"b\[0\] should be a finite number"),
        ({"c": {"k": None}}, r"c\.k should be text or true or false"),
        ({"c": []}, "c should be an object"),
        ({"d": {}}, "d should be a list or null"),
        ({"d": [{}]}, r"d\[0\]\.x is missing"),
        ({"format": "another"}, "its format is not 'a test'"),
        ({"version": 2}, "its version is 2"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, message):
    path = written(tmp_path, GOOD, **change)
    with pytest.raises(JsonFileError, match=rf"file\.json: {message}"):
        read_json(path, "a test", 1, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a": NaN}',
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"b": 1e999}',
    ],
)
def test_what_is_no_json_is_refused(tmp_path, text):
    path = tmp_path / "file.json"
    path.write_bytes(text)
    with pytest.raises(JsonFileError, match=r"file\.json"):
        read_json(path, "a test", 1, SCHEMA)


def test_numbers_that_overflow_are_not_finite():
    with pytest.raises(JsonFileError):
        check(json.loads("1e999"), float, "x")


def test_a_file_without_end_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.io.records.json_file.MOST_BYTES", 100)
    with pytest.raises(JsonFileError, match="longer than 100 bytes"):
        read_json(written(tmp_path, {"a": "x" * 200}), "a test", 1, SCHEMA)
