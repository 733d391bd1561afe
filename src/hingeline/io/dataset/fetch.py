"""Downloading data sets: resumed if a connection broke, verified, converted.

pooch does the book-keeping (checksum, a file that appears only when it is complete); what it lacks, resuming a partial
download, is here. Proxies and certificates are taken from the environment, as ``requests`` does.
"""

from __future__ import annotations

import re
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..text.streams import Progress
from .catalogue import Entry
from .convert import DEFAULT_MEMORY, convert
from .folder import Description

CHUNK_BYTES = 1 << 18
ATTEMPTS = 4
FIRST_WAIT = 1.0  # seconds before another attempt; each one doubles it
TIMEOUT = (20.0, 60.0)  # seconds to connect, and between two pieces of data
MISSING = "fetching needs pooch and requests, which are not both installed: pip install pooch requests."


class IncompleteDownload(OSError):
    """The connection ended before the file did; the part that has arrived is kept."""


class ResumingDownloader:
    """Downloads into ``part``, from the end of what it holds already; pooch calls it."""

    def __init__(self, part: Path, progress: Progress | None = None) -> None:
        self.part, self.progress = part, progress
        self.validator = part.with_name(part.name + ".validator")  # which version of the file it is

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download ``url``, in a few attempts, and leave it in ``output_file``."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._continue(url)
                break
            except IncompleteDownload as error:
                if attempt == ATTEMPTS:
                    raise IncompleteDownload(f"{error} Run the same command again to continue from there.") from None
                time.sleep(FIRST_WAIT * 2.0 ** (attempt - 1))
        self.validator.unlink(missing_ok=True)
        self.part.replace(output_file)

    def _continue(self, url: str) -> None:
        import requests

        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have and self.validator.exists():
            headers |= {"Range": f"bytes={have}-", "If-Range": self.validator.read_text(encoding="latin-1")}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
                if response.status_code == 416 and response.headers.get("Content-Range") == f"bytes */{have}":
                    return  # the part is complete
                self._save(response, self._first_byte(response, have, url), url)
        except requests.exceptions.RequestException as error:
            raise IncompleteDownload(f"{url}: the connection broke ({error}).") from None

    def _first_byte(self, response: Any, have: int, url: str) -> int:
        """Return where in the file the response begins."""
        if response.status_code == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            return have
        if response.status_code in (206, 416):  # not what was asked for: the part is useless
            self.part.unlink(missing_ok=True)
            raise IncompleteDownload(f"{url}: the server cannot continue from byte {have}.")
        if response.status_code >= 500:
            raise IncompleteDownload(f"{url}: the server answers {response.status_code} {response.reason}.")
        if response.status_code != 200:
            raise OSError(f"{url}: the server answers {response.status_code} {response.reason}: check name and --url.")
        return 0

    def _save(self, response: Any, have: int, url: str) -> None:
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() else None
        self._remember(response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""))
        with open(self.part, "ab" if have else "wb") as file:
            for chunk in response.iter_content(CHUNK_BYTES):
                file.write(chunk)
                have += len(chunk)
                if self.progress is not None:
                    self.progress(have, total)
        if total is not None and have < total:
            raise IncompleteDownload(f"{url}: the connection ended after {have} of {total} bytes.")

    def _remember(self, etag: str, modified: str) -> None:
        validator = modified if etag.startswith("W/") else etag or modified
        if validator:
            self.validator.write_text(validator, encoding="latin-1")
        else:
            self.validator.unlink(missing_ok=True)


def fetch(
    entry: Entry,
    folder: Path,
    *,
    base: str | None = None,
    sha256: str | None = None,
    memory: int = DEFAULT_MEMORY,
    force: bool = False,
    keep: bool = False,
    on_download: Progress | None = None,
    on_convert: Progress | None = None,
) -> Description:
    """Download a data set, verify and convert it; the dataset is ``folder / entry.name``.

    Parameters
    ----------
    entry : Entry
        From the catalogue.
    folder : path
        Where data sets are kept.
    base : str, optional
        Address of a mirror, in place of the site that the catalogue names.
    sha256 : str, optional
        Checksum of the downloaded file; default: the catalogue's, if it has one.
    memory, force
        As for ``convert``.
    keep : bool
        Keep the downloaded file too.
    on_download, on_convert : callable, optional
        Called with the bytes done and their total, None if that is not known.
    """
    if entry.is_archive:
        raise ValueError(
            f"{entry.name} is published as an archive: download and unpack {entry.url(base)} yourself, then convert it."
        )
    if find_spec("pooch") is None or find_spec("requests") is None:
        raise ValueError(MISSING)
    known = sha256 or entry.sha256
    if known is not None and not re.fullmatch("[0-9a-fA-F]{64}", known):
        raise ValueError(f"{known!r} is not a SHA-256 checksum: pass 64 hexadecimal digits.")
    target, name = folder / entry.name, Path(entry.file).name
    if target.exists() and not force:
        raise FileExistsError(f"{target} already exists: add --force to fetch it again.")
    downloads = folder / "downloads"
    if force:
        (downloads / name).unlink(missing_ok=True)
    downloads.mkdir(parents=True, exist_ok=True)
    path = _retrieve(entry.url(base), known, name, downloads, on_download)
    columns = entry.columns  # a test set may lack the last ones
    description = convert(path, target, memory=memory, columns=columns, force=force, progress=on_convert)
    if not keep:
        Path(path).unlink()
    return description


def _retrieve(url: str, sha256: str | None, name: str, folder: Path, progress: Progress | None) -> str:
    """Return the path of the file; download it if it is missing or has another checksum."""
    import pooch

    log = pooch.get_logger()
    level = log.level
    log.setLevel("ERROR")  # progress and errors tell the rest
    try:
        return str(
            pooch.retrieve(
                url,
                known_hash=None if sha256 is None else f"sha256:{sha256.lower()}",
                fname=name,
                path=folder,
                downloader=ResumingDownloader(folder / f"{name}.part", progress),
            )
        )
    finally:
        log.setLevel(level)
