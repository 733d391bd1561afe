"""The file of a search: what is written is read back, and nothing in it is taken on trust."""

import json

import pytest
from runs import make_search

from hingeline.io.records.json_file import JsonFileError
from hingeline.io.records.search_folder import has_search, read_search, write_search

EXTRA = {"work": [1.0, 2.0], "converged": [True, None], "stop_reasons": ["tol", None]}


def change(folder, **fields):
    """Change fields of the first cell."""
    document = json.loads((folder / "path.json").read_text())
    document["cells"][0] |= fields
    (folder / "path.json").write_text(json.dumps(document))


def test_a_folder_or_its_file(tmp_path):
    assert not has_search(tmp_path)
    make_search(tmp_path)
    assert has_search(tmp_path)
    assert read_search(tmp_path) == read_search(tmp_path / "path.json")


def test_what_was_written(tmp_path):
    document = read_search(make_search(tmp_path / "one"))
    for cell in document["cells"]:
        cell.update(EXTRA)
    document["problem"] = {"loss": "hinge", "Cs": [1.0]}
    (tmp_path / "two").mkdir()
    write_search(tmp_path / "two", document)
    assert read_search(tmp_path / "two", to_resume=True) == document


def test_more_is_needed_to_resume(tmp_path):
    make_search(tmp_path)
    with pytest.raises(JsonFileError, match=r"cells\[0\]\.work is missing"):
        read_search(tmp_path, to_resume=True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"C": 0.0}, r"cells\[0\]\.C is 0, not above zero"),
        ({"scores": [0.5]}, r"cells\[0\]\.scores has 1 entries for 2 folds"),
        ({"gaps": ["1", None]}, r"cells\[0\]\.gaps\[0\] should be a finite number or null"),
    ],
)
def test_damage(tmp_path, fields, message):
    make_search(tmp_path)
    change(tmp_path, **fields)
    with pytest.raises(JsonFileError, match=message):
        read_search(tmp_path)
