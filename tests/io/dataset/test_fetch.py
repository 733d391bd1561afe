import bz2
import hashlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sklearn.datasets import dump_svmlight_file

from hingeline.io import open_dataset
from hingeline.io.dataset import fetch as module
from hingeline.io.dataset.catalogue import data_folder, entries, find_entry
from hingeline.io.dataset.fetch import fetch
from hingeline.synthetic import make_text


class Site(BaseHTTPRequestHandler):
    """Serves ``server.files`` as ``server`` has been told to."""

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        content = server.files.get(self.path)
        if content is None or server.status >= 400:
            self.send_error(404 if content is None else server.status)
            return
        first, begin = 0, self.headers.get("Range")
        if begin and server.ranges and self.headers.get("If-Range") == server.etag:
            first = int(begin.removeprefix("bytes=").removesuffix("-")) + server.shift
            if first >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - first))
        if server.etag:
            self.send_header("ETag", server.etag)
        self.end_headers()
        sent = content[first:]
        if server.cuts > 0:
            server.cuts -= 1
            sent = sent[: len(sent) // 2]
            self.close_connection = True
        self.wfile.write(sent)

    def log_message(self, *args):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)  # what is lost at the most when a connection breaks
    X, y = make_text(200, 300, words_per_row=9, seed=2)
    dump_svmlight_file(X, y, str(tmp_path / "text"), zero_based=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.files = {"/binary/real-sim.bz2": bz2.compress((tmp_path / "text").read_bytes())}
        server.requests, server.cuts, server.ranges, server.etag, server.status = [], 0, True, '"one"', 200
        server.shift = 0
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        server.url = f"http://127.0.0.1:{server.server_port}"
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def entry():
    return replace(find_entry("real-sim"), rows=200, columns=300, nonzeros=None)


def content(site):
    return site.files["/binary/real-sim.bz2"]


def downloads(tmp_path):
    return sorted(path.name for path in (tmp_path / "data" / "downloads").iterdir())


def test_fetch_downloads_verifies_and_converts(site, entry, tmp_path):
    seen = []
    digest = hashlib.sha256(content(site)).hexdigest()
    description = fetch(
        entry, tmp_path / "data", base=site.url + "/", sha256=digest.upper(), on_download=lambda *now: seen.append(now)
    )
    assert (description.rows, description.columns) == (200, 300)
    X, y = open_dataset(tmp_path / "data" / "real-sim", verify=True)
    assert X.shape == (200, 300)
    assert y.shape == (200,)
    assert seen[-1] == (len(content(site)), len(content(site)))
    assert downloads(tmp_path) == []
    assert site.requests[0]["Accept-Encoding"] == "identity"


def test_a_broken_connection_is_resumed(site, entry, tmp_path):
    site.cuts = 2
    fetch(entry, tmp_path / "data", base=site.url, keep=True)
    assert (tmp_path / "data" / "downloads" / "real-sim.bz2").read_bytes() == content(site)
    size = len(content(site))
    begins = [int(request.get("Range", "bytes=0-")[6:-1]) for request in site.requests]
    assert len(begins) == 3
    assert begins[0] == 0
    assert size // 2 - 100 < begins[1] <= size // 2  # whole blocks, or all that came
    assert size * 0.7 < begins[2] < size * 0.8


def test_a_later_run_goes_on_from_the_part(site, entry, tmp_path):
    site.cuts = 4
    with pytest.raises(OSError, match=r"Run the same command again"):
        fetch(entry, tmp_path / "data", base=site.url)
    assert downloads(tmp_path) == ["real-sim.bz2.part", "real-sim.bz2.part.validator"]
    assert not (tmp_path / "data" / "real-sim").exists()
    have = (tmp_path / "data" / "downloads" / "real-sim.bz2.part").stat().st_size
    assert have > len(content(site)) * 0.9
    site.requests.clear()
    fetch(entry, tmp_path / "data", base=site.url, keep=True)
    assert [request.get("Range") for request in site.requests] == [f"bytes={have}-"]
    assert downloads(tmp_path) == ["real-sim.bz2"]
    assert (tmp_path / "data" / "downloads" / "real-sim.bz2").read_bytes() == content(site)


def test_a_part_that_is_whole(site, entry, tmp_path):
    folder = tmp_path / "data" / "downloads"
    folder.mkdir(parents=True)
    (folder / "real-sim.bz2.part").write_bytes(content(site))
    (folder / "real-sim.bz2.part.validator").write_text('"one"')
    assert fetch(entry, tmp_path / "data", base=site.url).rows == 200
    assert len(site.requests) == 1


@pytest.mark.parametrize("change", ["no ranges", "no validator", "new version", "wrong range"])
def test_what_cannot_be_resumed_is_downloaded_afresh(site, entry, tmp_path, change):
    site.cuts = 1
    if change == "no ranges":
        site.ranges = False
    elif change == "no validator":
        site.etag = ""
    elif change == "wrong range":
        site.shift = 5
    else:
        folder = tmp_path / "data" / "downloads"
        folder.mkdir(parents=True)
        (folder / "real-sim.bz2.part").write_bytes(b"of an older file")
        (folder / "real-sim.bz2.part.validator").write_text('"zero"')
    fetch(entry, tmp_path / "data", base=site.url, keep=True)
    assert (tmp_path / "data" / "downloads" / "real-sim.bz2").read_bytes() == content(site)


def test_not_found(site, entry, tmp_path):
    with pytest.raises(OSError, match=r"404 Not Found: check name and --url"):
        fetch(replace(entry, file="binary/other.bz2"), tmp_path / "data", base=site.url)
    assert len(site.requests) == 1
    site.status = 503
    with pytest.raises(OSError, match="503"):
        fetch(entry, tmp_path / "data", base=site.url)
    assert len(site.requests) == 1 + module.ATTEMPTS


def test_nobody_answers(entry, tmp_path, site):
    with pytest.raises(OSError, match="the connection broke"):
        fetch(entry, tmp_path / "data", base="http://127.0.0.1:1")


def test_a_wrong_checksum(site, entry, tmp_path):
    with pytest.raises(ValueError, match="does not match the known hash"):
        fetch(entry, tmp_path / "data", base=site.url, sha256="0" * 64)
    assert downloads(tmp_path) == []
    assert not (tmp_path / "data" / "real-sim").exists()
    with pytest.raises(ValueError, match="not a SHA-256 checksum"):
        fetch(entry, tmp_path / "data", base=site.url, sha256="abc")
    with pytest.raises(ValueError, match="does not match the known hash"):
        fetch(replace(entry, sha256="1" * 64), tmp_path / "data", base=site.url)


def test_a_damaged_file_is_not_converted(site, entry, tmp_path):
    site.files["/binary/real-sim.bz2"] = content(site)[:-20]
    with pytest.raises(ValueError, match=r"real-sim\.bz2"):
        fetch(entry, tmp_path / "data", base=site.url)
    assert not (tmp_path / "data" / "real-sim").exists()


def test_what_is_there_is_not_fetched_again(site, entry, tmp_path):
    fetch(entry, tmp_path / "data", base=site.url)
    with pytest.raises(FileExistsError, match="--force"):
        fetch(entry, tmp_path / "data", base=site.url)
    assert len(site.requests) == 1
    fetch(entry, tmp_path / "data", base=site.url, force=True)
    assert len(site.requests) == 2


def test_archives_and_missing_packages(entry, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="archive"):
        fetch(find_entry("criteo"), tmp_path)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install pooch requests"):
        fetch(entry, tmp_path)


def test_the_catalogue():
    names = [entry.name for entry in entries()]
    assert names[:6] == ["covtype", "kdda", "kddb", "news20.binary", "rcv1_train.binary", "url_combined"]
    assert len(set(names)) == len(names)
    for entry in entries():
        assert entry.url().startswith("https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/")
        assert entry.rows > 0
        assert entry.columns > 0
        assert entry.licence
        assert entry.nonzeros is None or 0 < entry.nonzeros <= entry.rows * entry.columns
    with pytest.raises(ValueError, match="data list"):
        find_entry("iris")


def test_where_data_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("HINGELINE_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("HINGELINE_DATA")
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr("hingeline.io.dataset.catalogue.sys.platform", platform)
        assert data_folder().name == "hingeline"
    monkeypatch.setattr("hingeline.io.dataset.catalogue.sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "hingeline"
