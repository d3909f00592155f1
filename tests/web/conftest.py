"""The built site, served on loopback, and the browsers that show it."""

import contextlib
import functools
import http.server
import threading
import time

import pytest

from tests.locust.browser import chromium
from tests.web.firefox import firefox


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, counts what is requested, and says nothing."""

    def do_GET(self):
        """Answer; any page may read the answer."""
        self.server.requested.append(self.path)
        super().do_GET()

    def end_headers(self):
        """Let any page read it, so that nothing but its own policy keeps one from it."""
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        """Print nothing."""


@contextlib.contextmanager
def serving(folder):
    """Serve a folder on a free port of loopback; yield the server."""
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.requested = []
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site, below a folder as a host of pages has it."""
    from tools.site.__main__ import build, missing

    if problem := missing():
        pytest.skip(problem)
    folder = tmp_path_factory.mktemp("host")
    build(folder / "project", reports=False)
    return folder / "project"


@pytest.fixture(scope="session")
def server(site):
    """Serve the host of the site."""
    with serving(site.parent) as server:
        yield server


class Page:
    """The page in a browser, and how a user reads and uses it."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, path=""):
        """Open the page, and wait until it shows something."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/project/{path}")
        if not path or path.startswith("#"):
            self.wait("lab.shown")

    def js(self, script, *arguments):
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, seconds=120):
        """Wait until an expression of the page is true."""
        begin = time.monotonic()
        while not self.js(f"return Boolean(window.lab) && Boolean({condition})"):
            assert time.monotonic() < begin + seconds, f"{condition}: {self.status!r}"
            time.sleep(0.02)

    def wait_for(self, selector, seconds=20):
        """Wait until an element is there."""
        begin = time.monotonic()
        while not self.js("return document.querySelector(arguments[0]) !== null", selector):
            assert time.monotonic() < begin + seconds, selector
            time.sleep(0.05)

    def ready(self):
        """Load the linter."""
        self.js("document.getElementById('text').focus()")
        self.wait("lab.ready")

    def put(self, text):
        """Write a text into the editor, and wait until the page has nothing more to say of it."""
        self.js(
            "const field = document.getElementById('text'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input', {bubbles: true}))", text,
        )  # fmt: skip
        self.wait("lab.settled === lab.version")

    def text_of(self, selector):
        """Return the text of an element, seen or not."""
        return self.js("return document.querySelector(arguments[0])?.textContent", selector)

    @property
    def status(self):
        """The line below the editor."""
        return self.text_of("#status")

    @property
    def value(self):
        """The text in the editor."""
        return self.js("return document.getElementById('text').value")

    @property
    def selected(self):
        """The selected text in the editor."""
        return self.js(
            "const {value, selectionStart, selectionEnd} = document.getElementById('text');"
            "return value.slice(selectionStart, selectionEnd)"
        )

    def click(self, selector):
        """Click an element."""
        self.driver.click(selector)

    def press(self, *keys):
        """Press keys, together."""
        self.driver.press(*keys)

    def width(self, pixels):
        """Show it in a window of a width, as a phone's."""
        self.driver.resize(pixels, 900)


class ChromiumPage(Page):
    """The page in Chromium, which Selenium drives."""

    def click(self, selector):
        """Click an element."""
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def press(self, *keys):
        """Press keys, together."""
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain = chain.key_down(key)
        chain = chain.send_keys(keys[-1])
        for key in reversed(keys[:-1]):
            chain = chain.key_up(key)
        chain.perform()

    def cdp(self, command, **parameters):
        """Return what the browser answers to a command of its developer tools."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def width(self, pixels):
        """Show it in a window of a width, as a phone's."""
        size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": pixels < 800}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)

    def scheme(self, name):
        """Prefer light or dark."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.cdp("Emulation.setEmulatedMedia", features=[feature])


@contextlib.contextmanager
def chromium_page(address, folder):
    """Yield the page of a server in a Chromium whose profile is in a folder."""
    with chromium(folder) as driver:
        driver.set_script_timeout(300)
        yield ChromiumPage(driver, address)


@contextlib.contextmanager
def firefox_page(address, folder):
    """Yield the page of a server in a Firefox whose profile is in a folder."""
    with firefox(folder) as driver:
        yield Page(driver, address)


BROWSERS = {"Chromium": chromium_page, "Firefox": firefox_page}
"""Name of a browser -> the page in it."""


@pytest.fixture(scope="module", params=BROWSERS)
def page(request, server, tmp_path_factory):
    """Return the page in a browser that has not shown it yet."""
    with BROWSERS[request.param](server.address, tmp_path_factory.mktemp("profile")) as page:
        yield page
