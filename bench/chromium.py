"""A headless Chromium, driven through chromedriver's HTTP interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import urllib.request
from types import TracebackType

# The browser asks nobody for anything by itself.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,900",
]


class Chromium:
    """A browser for as long as a `with` block lasts."""

    def __enter__(self) -> Chromium:
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.address = f"http://127.0.0.1:{self.port()}/session"
        options = {"args": [*FLAGS, f"--user-data-dir={self.profile}"]}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options}}
        session = self.command("", {"capabilities": capabilities})
        self.address += f"/{session['sessionId']}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.command("", None, "DELETE")
        self.driver.kill()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def port(self) -> int:
        """Reads the port that the driver says it listens on."""
        assert self.driver.stdout is not None
        for line in self.driver.stdout:
            _, found, port = line.partition("successfully on port ")
            if found:
                return int(port.strip().rstrip("."))
        raise OSError("chromedriver ended before it listened")

    def command(self, path: str, body: object, method: str = "POST") -> dict:
        """Gives a command and returns its value."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=300) as reply:
            return json.load(reply)["value"]

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded."""
        self.command("/url", {"url": url})

    def wait(self, condition: str) -> None:
        """Waits until an expression is true in the page, looking at every frame."""
        script = f"""
            const done = arguments[0];
            const look = () => {{ if ({condition}) done(true); else requestAnimationFrame(look); }};
            look();"""
        self.command("/execute/async", {"script": script, "args": []})

    def value(self, expression: str) -> object:
        """The value of an expression in the page."""
        return self.command("/execute/sync", {"script": f"return ({expression});", "args": []})


def is_installed() -> bool:
    """Whether there is a browser to drive."""
    return all(shutil.which(name) for name in ("chromium", "chromedriver"))
