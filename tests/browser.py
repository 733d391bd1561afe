"""A headless Chromium, driven through its DevTools protocol over two pipes: no driver and no package is needed.

Where there is no browser, the tests are skipped. The variable HINGELINE_BROWSER names one that is elsewhere.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-quic", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars"),
)
PATIENCE = 90.0  # seconds for an answer, on a machine that others use too


def find_browser():
    """Return the program, or None."""
    named = os.environ.get("HINGELINE_BROWSER")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        return None
    try:
        done = subprocess.run([found, "--version"], capture_output=True, timeout=PATIENCE, check=False)
    except OSError:
        return None
    return found if done.returncode == 0 else None  # one that is half installed does not count


class Browser:
    """A page in its own browser; ``complaints`` and ``requests`` are what it said and asked for."""

    def __init__(self, program):
        self.complaints, self.requests, self._number, self._buffer = [], [], 0, b""
        self._loaded, self._session = False, None
        self._home = tempfile.TemporaryDirectory(prefix="hingeline-browser-", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={self._home.name}", "--remote-debugging-pipe"]
        if hasattr(os, "getuid") and os.getuid() == 0:
            flags.append("--no-sandbox")
        # The protocol uses the file descriptors 3 and 4; the shell puts our pipes there.
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, *flags, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self):
        """Take the first page."""
        targets = self._call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def close(self):
        """End the browser, and remove what it left."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._home.cleanup()

    def _call(self, method, **parameters):
        """Call a method of the protocol, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self):
        """Return the next message; what happened by itself is noted on the way."""
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._in, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self._buffer += part
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(raw)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, method, parameters):
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def open(self, path, width=1100, height=900, phone=False):
        """Open a file, and wait until it has loaded."""
        self.size(width, height, phone)
        self.complaints.clear()
        self.requests.clear()
        self._loaded = False
        self._call("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._read()
        return self

    def size(self, width, height, phone=False):
        """Set the size of the window."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def prefer(self, scheme):
        """Set what the reader prefers: "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def run(self, expression):
        """Return the value of an expression of JavaScript."""
        done = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return done["result"].get("value")

    def move(self, x, y):
        """Move the pointer."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key):
        """Press a key and release it."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def click(self, selector):
        """Click the middle of an element."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector):
        """Scroll an element into view, and return where its middle is."""
        code = f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}}); const b = e.getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2]; }})()"""
        return self.run(code)

    def screenshot(self, path, whole=True):
        """Save a picture of the page."""
        taken = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self):
        """Return the page as it is printed."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])
