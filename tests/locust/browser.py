"""A headless Chromium, for what only a browser can tell: that the pages work as they are used."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@contextmanager
def chromium(folder: Path, *, dark: bool = False, width: int = 1280) -> Iterator:
    """
    Yield a Selenium driver; its profile and downloads are in *folder*.

    The test is skipped where there is no browser to drive.
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs: pip install selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        f"--window-size={width},900",
        f"--user-data-dir={folder / 'chromium'}",
        "--disable-dev-shm-usage",  # a container's /dev/shm is small
        *(("--no-sandbox",) if os.geteuid() == 0 else ()),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        if dark:
            scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        yield driver
    finally:
        driver.quit()
