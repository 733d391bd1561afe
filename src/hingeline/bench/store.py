"""Results kept as lines of JSON, so that an interrupted benchmark can go on."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any

Record = dict[str, Any]


class Store:
    """Records in a file, one per line, found again by the fields in ``key``.

    A record has ``deadline`` and ``finished`` (whether it ended in time). If it did not, it is run again only if there
    is more time now. ``older`` gives the fields of the key that files of earlier versions lack.

    Attributes
    ----------
    n_kept : int
        Records that were found instead of being made again.
    """

    def __init__(self, path: Path, key: tuple[str, ...], older: Record | None = None) -> None:
        self.path, self.key, self.n_kept = path, key, 0
        self._older, self._one_at_a_time = older or {}, Lock()
        self._records: dict[tuple[Any, ...], Record] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text and not text.endswith("\n"):  # half a record, of a run that was killed while it wrote
            text = text[: text.rfind("\n") + 1]
            path.write_text(text, encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            try:
                record = self._older | json.loads(line)
                self._records[self._key_of(record)] = record
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: not a record of this benchmark ({error!r}).") from error

    def find(self, deadline: float, **wanted: Any) -> Record | None:
        """Return the record with the fields ``wanted``, None if it has to be made."""
        record = self._records.get(self._key_of(wanted))
        if record is None or not (record["finished"] or record["deadline"] >= deadline):
            return None
        self.n_kept += 1
        return record

    def add(self, record: Record) -> None:
        """Append a record; it is in the file when this returns. Threads may do so at the same time."""
        with self._one_at_a_time, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            self._records[self._key_of(record)] = record

    def _key_of(self, record: Record) -> tuple[Any, ...]:
        return tuple(tuple(value) if isinstance(value := record[name], list) else value for name in self.key)
