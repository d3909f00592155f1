"""A headless Firefox, driven by WebDriver BiDi: Debian has no driver that Selenium could use."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.lab_process import until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

SCRIPT = "async (json) => JSON.stringify(await function () {{ {} }}.apply(null, JSON.parse(json)))"
"""A script of Selenium, whose values are `arguments`, as a function of BiDi."""

CENTER = """
const element = document.querySelector(arguments[0]);
element.scrollIntoView({block: "nearest"});
const {left, top, width, height} = element.getBoundingClientRect();
const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)];
return [x, y, element.contains(document.elementFromPoint(x, y))];
"""


class Firefox:
    """One tab. What Selenium's drivers have, too, has their names."""

    def __init__(self, address: str) -> None:
        import websocket

        self._socket = websocket.create_connection(address, timeout=300, suppress_origin=True)
        self._number = 0
        self._ask("session.new", capabilities={})
        # In the first tab no element gets the focus.
        self._tab = self._ask("browsingContext.create", type="tab")["context"]

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command; return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while (reply := json.loads(self._socket.recv())).get("id") != self._number:
            pass
        assert reply["type"] == "success", f"{method}: {reply['message']}"
        return reply["result"]

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def get(self, address: str) -> None:
        """Go to an address, and wait until the page is loaded."""
        # To another fragment it only scrolls, as Selenium does, and there is nothing to wait for.
        self._ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def execute_script(self, script: str, *values: Any) -> Any:
        """Return what a script returns."""
        reply = self._ask(
            "script.callFunction",
            functionDeclaration=SCRIPT.format(script),
            arguments=[{"type": "string", "value": json.dumps(values)}],
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert reply["type"] == "success", reply["exceptionDetails"]["text"]
        return json.loads(reply["result"].get("value", "null"))

    def execute_async_script(self, script: str, *values: Any) -> Any:
        """Return what a script gives to its last argument."""
        return self.execute_script(
            "return new Promise((done) =>"
            f" function () {{ {script} }}.call(null, ...arguments, done))",
            *values,
        )

    @property
    def current_url(self) -> str:
        """Return the address of the page."""
        return self.execute_script("return location.href")

    def _act(self, kind: str, *actions: dict[str, Any]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self._ask("input.performActions", context=self._tab, actions=[source])

    def click(self, selector: str) -> None:
        """Click the middle of an element."""
        x, y, is_seen = self.execute_script(CENTER, selector)
        assert is_seen, f"{selector} is covered"
        move = {"type": "pointerMove", "x": x, "y": y}
        self._act(
            "pointer", move, *({"type": t, "button": 0} for t in ("pointerDown", "pointerUp"))
        )

    def press(self, *keys: str) -> None:
        """Press keys, together."""
        down = [{"type": "keyDown", "value": key} for key in keys]
        self._act("key", *down, *({"type": "keyUp", "value": key} for key in reversed(keys)))

    def resize(self, width: int, height: int) -> None:
        """Show pages in a window of this size, in CSS pixels."""
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._tab, viewport=size)


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Yield a Firefox whose profile is in *folder*; the test is skipped where there is none."""
    pytest.importorskip("websocket", reason="needs websocket-client, which Selenium installs")
    if FIREFOX is None:
        pytest.skip("needs Firefox: apt-get install firefox-esr")
    words = [FIREFOX, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port=0"]
    environment = {**os.environ, "HOME": str(folder)}
    with (folder / "firefox.log").open("wb") as log:
        process = subprocess.Popen(
            words, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    server = folder / "WebDriverBiDiServer.json"
    try:
        until(lambda: server.exists() and server.read_text(), "a Firefox that listens")
        port = json.loads(server.read_text())["ws_port"]
        with contextlib.closing(Firefox(f"ws://127.0.0.1:{port}/session")) as driver:
            yield driver
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
