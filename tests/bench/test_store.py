import pytest

from hingeline.bench.store import Store

KEY = ("data", "C", "targets")


def record(**kwargs):
    return {"data": "a", "C": 1.0, "targets": [1e-3], "deadline": 10.0, "finished": True, "seconds": 1.5, **kwargs}


def wanted(**kwargs):
    return {name: record(**kwargs)[name] for name in KEY}


def test_records_are_found_again_by_another_process(tmp_path):
    path = tmp_path / "new" / "x.jsonl"
    Store(path, KEY).add(record())
    store = Store(path, KEY)
    assert store.find(10.0, **wanted()) == record()
    assert store.n_kept == 1
    assert store.find(10.0, **wanted(C=2.0)) is None


def test_what_did_not_finish_is_run_again_only_with_more_time(tmp_path):
    store = Store(tmp_path / "x.jsonl", KEY)
    store.add(record(finished=False))
    assert store.find(10.0, **wanted()) is not None
    assert store.find(11.0, **wanted()) is None
    store.add(record(deadline=11.0, seconds=10.5))
    assert Store(store.path, KEY).find(1e9, **wanted())["seconds"] == 10.5  # the later one counts


def test_half_a_record_is_dropped(tmp_path):
    path = tmp_path / "x.jsonl"
    Store(path, KEY).add(record())
    with path.open("a") as file:
        file.write('{"data": "b", "C"')
    store = Store(path, KEY)
    store.add(record(data="c"))
    assert len(path.read_text().splitlines()) == 2
    assert Store(path, KEY).find(1.0, **wanted(data="c"))


def test_a_file_of_something_else_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text("[1]\n")
    with pytest.raises(ValueError, match=r"x\.jsonl, line 1: not a record"):
        Store(tmp_path / "x.jsonl", KEY)
    (tmp_path / "x.jsonl").write_text("hello\n")
    with pytest.raises(ValueError, match=r"x\.jsonl, line 1: not a record"):
        Store(tmp_path / "x.jsonl", KEY)


def test_fields_that_an_older_file_lacks(tmp_path):
    Store(tmp_path / "x.jsonl", KEY).add(record())
    store = Store(tmp_path / "x.jsonl", (*KEY, "seed"), older={"seed": 0})
    assert store.find(10.0, **wanted(), seed=0)["seconds"] == 1.5
    assert store.find(10.0, **wanted(), seed=1) is None
