"""The web UI as it is used: in a browser, from the form to the report."""

from __future__ import annotations

import re
import time

import pytest

from tests.kit.lab_process import descendants, summary, trials, until
from tests.locust.browser import chromium
from tests.locust.web_ui import locust_web

pytestmark = pytest.mark.slow


def texts(browser, selector):
    """Return the texts of all elements that a CSS selector finds, after a moment."""
    time.sleep(0.1)  # to ask all the time would be work beside the trials
    # In one piece: the page may change between two questions.
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)"
    return browser.execute_script(script, selector)


def press(browser, name):
    """Press the button, or choose the tab, of that name, as soon as it is there."""
    script = """
        const found = [...document.querySelectorAll("button")].find(
            (e) => e.innerText.trim().toLowerCase() === arguments[0].toLowerCase());
        if (found) found.click();
        return Boolean(found);
    """
    until(lambda: browser.execute_script(script, name), f"a button {name}")


def fill_form(browser, base, profiles, **fields):
    """Open Locust's form, choose profiles and fill in fields, as with a mouse and a keyboard."""
    browser.get(base)
    press(browser, "Custom parameters")
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    box = browser.find_element("name", "profiles")
    until(lambda: box.rect["height"] > 50 and box.is_displayed(), "the parameters to unfold")
    chosen = Select(box)
    chosen.deselect_all()
    for name in profiles:
        chosen.select_by_visible_text(name)
    for name, value in fields.items():
        field = browser.find_element("name", name)
        until(field.is_displayed, f"the field {name}")
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(str(value))


def table(browser):
    """Return the rows of the table that the tab shows."""
    cells = texts(browser, "tbody td")
    width = len(texts(browser, "thead th"))
    return [cells[i : i + width] for i in range(0, len(cells), width)] if width else []


def complaints(browser):
    """Return the browser's own messages, but for the icon that Locust does not have."""
    return [
        message for message in browser.get_log("browser") if "favicon" not in message["message"]
    ]


def test_from_the_form_to_the_stop_button(tmp_path):
    """A wrong field is named; rows fill, STOP ends the server, and what was measured stays."""
    with locust_web(tmp_path) as (process, base), chromium(tmp_path) as browser:
        fill_form(browser, base, ["listen"], userCount=8, blocks="abc")
        press(browser, "Start")
        until(lambda: "--blocks: 'abc': a whole number" in texts(browser, "body")[0], "why not")
        fill_form(
            browser, base, ["listen", "tuned"], userCount=8, blocks=50, window=0.4, warmup=0.1
        )
        press(browser, "Start")
        press(browser, "Profiles")

        def filled():
            rows = {row[0]: row for row in table(browser)}
            return rows if rows and all("0 of" not in row[1] for row in rows.values()) else None

        rows = until(filled, "a trial of each profile in the tab")
        assert list(rows) == ["listen", "tuned"]
        assert all(row[1].endswith(" of 50") for row in rows.values())
        until(lambda: any("block" in row[-1] for row in table(browser)), "what is run now")
        press(browser, "Download Data")
        assert "Download profiles CSV" in texts(browser, "a")
        until(lambda: descendants(process.pid), "a server")
        press(browser, "Stop")
        until(lambda: not descendants(process.pid), "the end of the server", 5.0)
        browser.get(f"{base}/profiles/")
        assert "Run folder: results/" in texts(browser, "header")[0]
        browser.switch_to.frame(0)
        assert "listen" in texts(browser, "body")[0]
        assert not complaints(browser)
    assert len(trials(tmp_path)) >= 2
    assert {row["name"] for row in summary(tmp_path)["profiles"]} == {"listen", "tuned"}


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_follows_a_run_by_itself(tmp_path, dark):
    """Opened before START, it shows how far it is, and the report; on a phone, in the dark."""
    with (
        locust_web(tmp_path) as (_, base),
        chromium(tmp_path, dark=dark, width=500) as browser,
    ):
        browser.get(f"{base}/profiles/")
        page = browser.current_window_handle
        assert "No comparison has run yet" in texts(browser, "header")[0]
        browser.switch_to.new_window("tab")
        fill_form(browser, base, ["tuned"], userCount=8, blocks=3, window=1, warmup=0.1)
        press(browser, "Start")
        browser.switch_to.window(page)
        until(lambda: re.search("[1-5] of 6 trials", str(texts(browser, "#progress"))), "a trial")
        until(lambda: texts(browser, "iframe"), "the report of the first block")
        browser.switch_to.frame(0)
        until(lambda: "Run under way" in " ".join(texts(browser, "body")), "its content")
        browser.switch_to.default_content()
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) < 300) is dark
        until(lambda: "Done: 6 of 6 trials" in " ".join(texts(browser, "header")), "the end")
        browser.switch_to.frame(0)
        until(lambda: "tuned" in " ".join(texts(browser, "body")), "the report's content")
        assert not complaints(browser)
