"""The page, used in Chromium and in Firefox."""

import gzip
import json
import re
import tempfile
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.web.conftest import BROWSERS, serving
from tests.web.test_answers import TEXTS
from web import answers

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
in_chromium = pytest.mark.parametrize("page", ["Chromium"], indirect=True)
"""What no other browser would answer differently, or only Chromium's developer tools show."""

FAULT = "[uwsgi]\nhttp = :80\nmodule = a:b\nprocesess = 4\n"
FIRST_VIEW = ("index.html", "page.css", "page.js", "examples.json")
REQUESTED = (
    "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    ".concat(location.href.split('#')[0])"
)


def test_an_example_has_its_findings_before_the_linter_is_loaded(page, server):
    """By four requests, and nothing of the engine."""
    server.requested.clear()
    page.open()
    assert page.js("return document.querySelectorAll('ol.cards > li').length") > 5
    assert page.status.startswith("Found ")
    addresses = page.js(REQUESTED)
    assert len(addresses) == len(FIRST_VIEW), addresses
    assert not any("engine-" in path for path in server.requested)


def test_the_first_view_and_the_engine_are_small(site):
    """Less than 40 KB and 6 MB, as a host sends them compressed."""
    first = sum(len(gzip.compress((site / name).read_bytes())) for name in FIRST_VIEW)
    assert first < 40_000
    (engine,) = site.glob("engine-*")
    contents = {path.name: path.read_bytes() for path in engine.iterdir()}
    sizes = (len(c if n.endswith(".gz") else gzip.compress(c)) for n, c in contents.items())
    assert sum(sizes) < 6_000_000


def test_a_typed_mistake_is_found_fixed_and_taken_back(page, server):
    """Underlined where it stands; Fix writes, and Ctrl+Z takes the fix back."""
    from selenium.webdriver.common.keys import Keys

    page.open()
    page.ready()
    page.put(FAULT)
    assert "UW001" in page.text_of("#findings")
    assert page.text_of("#under u[data-s=error]") == "procesess = 4"
    page.click("[aria-label^='Fix UW001 in line 4']")
    page.wait("document.getElementById('text').value.includes('processes')")
    page.wait("lab.settled === lab.version")
    assert "UW001" not in page.text_of("#findings")
    page.js("document.getElementById('text').focus()")
    page.press(Keys.CONTROL, "z")
    assert page.value == FAULT
    assert all(address.startswith(server.address) for address in page.js(REQUESTED))


def test_a_keyboard_alone_does_everything(page):
    """Tab reaches and leaves the editor, arrows change tabs, F8 goes to a finding and says it."""
    from selenium.webdriver.common.keys import Keys

    page.open("#example=nginx")
    page.js("document.body.focus()")
    reached = []
    for _ in range(14):
        page.press(Keys.TAB)
        reached.append(page.js("return document.activeElement.id"))
    assert {"example", "kind", "container", "text", "share", "tab-findings", "findings"} <= {
        *reached
    }
    page.js("document.getElementById('tab-findings').focus()")
    page.press(Keys.ARROW_RIGHT)
    hidden = "return ['findings', 'missing'].map((id) => document.getElementById(id).hidden)"
    assert page.js(hidden) == [True, False]
    page.ready()
    page.press(Keys.F8)
    assert page.status.startswith("Finding 1 of ")
    assert page.selected == "[uwsgi]"
    page.press(Keys.SHIFT, Keys.F8)
    assert page.selected.startswith("static-map = ")
    assert page.js("return document.querySelector('li.now').dataset.line") == "14"


def test_a_link_brings_the_text_back(page):
    """The text is in the fragment, and in no address before the link is copied."""
    page.open("#example=gunicorn")
    text = page.value
    assert "#1/" not in page.driver.current_url
    page.click("#share")
    page.wait("location.hash.startsWith('#1/')")
    fragment = page.js("return location.hash")
    page.open(fragment)
    assert page.value == text
    page.wait("lab.settled === lab.version")
    assert page.status.startswith("Found ")


def test_the_skip_link_leaves_the_text(page):
    """It moves the focus to the results, and nothing else."""
    page.open()
    page.js("document.getElementById('text').value = 'workers = 2'")
    page.js("document.querySelector('.skip').click()")
    page.wait("document.activeElement.id === 'results'")
    page.js("window.dispatchEvent(new HashChangeEvent('hashchange'))")
    assert page.value == "workers = 2"


def test_a_broken_link_says_so(page):
    """And shows an example, as does a link that unpacks to what is too long."""
    page.open("#1/-/AAAA")
    assert page.status.startswith("The link is broken")
    page.open("#1/command/7")
    assert page.status.startswith("The link is broken")


def test_a_secret_in_a_link_is_pointed_out(page):
    """Before it is sent."""
    page.open()
    page.put("[uwsgi]\nenv = DATABASE_PASSWORD=hunter2\n")
    page.click("#share")
    page.wait("document.getElementById('status').textContent.includes('password')")


@pytest.mark.parametrize("code", ["UW306", "GR001", "GU006"])
def test_a_rule_can_be_tried(page, code):
    """Its address shows its example, with its finding."""
    page.open(f"#rule={code}")
    page.wait("lab.settled === lab.version")
    assert code in page.text_of("#findings")


HOSTILE = {
    "loop": "[uwsgi]\nfor-times = 99999999\nprocesses = 4\nendfor =\n",
    "loops": "[uwsgi]\n" + "for-times = 9999\n" * 6 + "env = A=%(_)\n" + "endfor =\n" * 6,
    "options": "[uwsgi]\n" + "a=b\n" * 1990,
    "JSON": '{"uwsgi":' * 1500,
    "aliases": "uwsgi:\n  a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"  {b}: &{b} [{f'*{a},' * 9}]\n" for a, b in pairwise("abcdefghi")),
    "entities": '<!DOCTYPE u [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><uwsgi><http>&b;</http></uwsgi>',
    "pattern": f"[uwsgi]\nroute = {'(a+)+' * 30}$ x:{'a' * 5000}\nhttp = {':' * 9000}\n",
    "power": "workers = 9**9**9**9\n",
    "brackets": f"x = {'(' * 5000}{')' * 5000}",
    "markup": "[uwsgi]\nhttp = <img src=x onerror=alert(1)><script>alert(1)</script>\n",
    "include": "[uwsgi]\nini = /etc/passwd\ninclude = uwsgi.ini\n",
    "zero": "[uwsgi]\nhttp = \0\n",
}
"""Texts that would take long, or act."""


def test_a_hostile_text_is_answered(page):
    """In words, or by what it is; nothing in it becomes an element, and the next one is checked."""
    page.open()
    page.ready()
    for name, text in HOSTILE.items():
        page.put(text)
        assert page.status.startswith(
            ("Found ", "No findings", "uwsgi.", "gunicorn.", "The check")
        ), name
        assert (
            page.js("return document.querySelectorAll('#results img, #results script').length") == 0
        )
    page.put(FAULT)
    assert "UW001" in page.text_of("#findings")


PASTE = """
const clipboardData = new DataTransfer();
clipboardData.setData("text/plain", "a = b\\n".repeat(900000));
const event = new ClipboardEvent("paste", {bubbles: true, cancelable: true});
Object.defineProperty(event, "clipboardData", {value: clipboardData}); // Firefox fills none in
document.getElementById("text").dispatchEvent(event);
"""


def test_a_text_that_is_too_long_is_refused(page):
    """At the paste, with nothing written."""
    page.open()
    before = page.value
    page.js(PASTE)
    assert page.status.startswith("This text is too long")
    assert page.value == before


AT_ONCE = """
window.later = setTimeout;
window.setTimeout = (then, time) => time === 5000 ? then() : later(then, time);
"""
"""The time of a check is over as soon as it begins, however fast the check is."""


def test_a_check_that_takes_too_long_is_stopped(page):
    """The page answers meanwhile, and a new Worker checks the next text."""
    page.open()
    page.ready()
    page.js(AT_ONCE)
    page.put(HOSTILE["options"])
    assert page.status.startswith("The check took longer than 5 s and was stopped")
    page.js("window.setTimeout = later")
    page.put(FAULT)
    assert "UW001" in page.text_of("#findings")


WORKER = """
const [source, done] = arguments;
const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
new Worker(address, {type: "module"}).onmessage = ({data}) => done(data);
"""

FETCH = "fetch('{}/').then(() => 'sent', () => 'blocked')"


def test_neither_the_page_nor_its_worker_reaches_another_host(page, tmp_path):
    """A Worker of a blob has the policy of the page; another server hears of neither."""
    page.open()
    with serving(tmp_path) as other:
        fetch = FETCH.format(other.address)
        assert page.driver.execute_async_script(f"{fetch}.then(arguments[0])") == "blocked"
        blob = f"{fetch}.then((reply) => postMessage(reply))"
        reply = page.driver.execute_async_script(WORKER, blob)
        assert reply == "blocked"
        assert other.requested == []


STORED = """
const [done] = arguments;
const names = async () => {
  const kept = [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
  for (const name of await caches.keys()) {
    kept.push(...(await (await caches.open(name)).keys()).map(({url}) => url));
  }
  return [...kept, ...(await indexedDB.databases()).map(({name}) => name)].join(" ");
};
names().then(done);
"""


def test_nothing_of_the_text_is_stored(page):
    """Neither in storage, nor in what is kept for the time without a network."""
    page.open()
    page.ready()
    page.put("[uwsgi]\nhttp = :80\nenv = MARK=hunter2\n")
    stored = page.driver.execute_async_script(STORED)
    assert "hunter2" not in stored
    assert "hunter2" not in page.driver.current_url


def serious(page):
    """Return what axe finds serious on a page."""
    from tools.site.__main__ import NPM

    page.js((NPM / "node_modules" / "axe-core" / "axe.min.js").read_text())
    violations = page.driver.execute_async_script(
        "axe.run().then(({violations}) => arguments[0](violations))"
    )
    return [
        (one["id"], one["impact"], one["nodes"][0]["html"])
        for one in violations
        if one["impact"] in {"serious", "critical"}
    ]


@in_chromium
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_accessible(page, width, scheme):
    """Nothing overflows, and axe finds nothing serious, in any tab."""
    page.scheme(scheme)
    check_the_tabs(page, width)


def test_it_fits_a_phone(page):
    """In the scheme that a browser has by itself."""
    check_the_tabs(page, 400)


def check_the_tabs(page, width):
    """Assert that each tab fits a width, and is accessible."""
    page.width(width)
    page.open()
    for tab in ("findings", "missing", "translate"):
        page.js(f"document.getElementById('tab-{tab}').click()")
        assert page.js("return document.documentElement.scrollWidth - innerWidth") <= 0
        assert serious(page) == []
    page.width(1280)


HEARD = """
link: Skip to the results
heading 1: lab lint
navigation: Site
link: Rules
link: Documentation
region: Your configuration
heading 2: Your configuration
combobox: Example
combobox: Read as
checkbox: in a container
textbox: Configuration
status: Found 1 (1 dangerous).
button: Copy link
region: Results
heading 2: Results
tablist: Results
tab: Findings 1
tab: Missing 1
tab: Translate
tabpanel: Findings 1
list:
button: Go to line 1, GU005
link: GU005
DisclosureTriangle: Why GU005 is reported
""".strip().splitlines()
"""What a screen reader announces of a page with one finding, in its order: roles and names."""

SPOKEN = {re.match(r"\w+", line)[0] for line in HEARD}
"""Roles in the accessibility tree."""


def heard(page):
    """Return the elements that a screen reader stops at or announces, in the page's order."""
    nodes = {node["nodeId"]: node for node in page.cdp("Accessibility.getFullAXTree")["nodes"]}

    def texts(node):
        if node.get("role", {}).get("value") == "StaticText":
            return node["name"]["value"]
        return "".join(texts(nodes[child]) for child in node.get("childIds", ()))

    def walk(node):
        role = node.get("role", {}).get("value")
        if not node["ignored"] and role in SPOKEN:
            name = texts(node) if role == "status" else node["name"]["value"]
            properties = {one["name"]: one["value"].get("value") for one in node["properties"]}
            level = f" {properties['level']}" if role == "heading" else ""
            yield f"{role}{level}: {name}".strip()
        for child in node.get("childIds", ()):
            yield from walk(nodes[child])

    return [*walk(next(iter(nodes.values())))]


@in_chromium
def test_what_a_screen_reader_announces(page):
    """A name for every control, a heading for each part, the findings as a list of their lines."""
    page.open()
    page.ready()
    page.put("gunicorn a:b -b 127.0.0.1:8000 -w 4 --max-requests 100")
    assert heard(page) == HEARD
    for tab in ("missing", "translate"):
        page.js(f"document.getElementById('tab-{tab}').click()")
        lines = heard(page)
        assert [line for line in lines if line.endswith(":") and line != "list:"] == []
        levels = [int(line[8]) for line in lines if line.startswith("heading")]
        assert levels[:3] == [1, 2, 2]
        assert {*levels[3:]} == {3}


ANNOUNCED = """
const status = document.getElementById("status");
window.announced = [];
new MutationObserver(() => announced.push(status.textContent)).observe(
  status, {childList: true, characterData: true, subtree: true});
"""


@in_chromium
def test_an_answer_is_announced_once(page):
    """And not at a key that changes no finding; every underlined line has its words in the list."""
    page.open()
    page.ready()
    page.js(ANNOUNCED)
    page.put(FAULT)
    assert page.js("return announced") == [page.status]
    page.put(FAULT + "\n# nothing\n")
    assert len(page.js("return announced")) == 1
    marked = "[...document.querySelectorAll('#gutter [data-s]')].map((one) => one.textContent)"
    listed = r"[...document.querySelectorAll('.place')].map((one) => one.ariaLabel.match(/\d+/)[0])"
    assert {*page.js(f"return {marked}")} == {*page.js(f"return {listed}")}
    for attribute in ("#under", "#gutter"):
        assert page.js(f"return document.querySelector('{attribute}').ariaHidden") == "true"


@in_chromium
@pytest.mark.parametrize("path", ["docs/", "docs/how-to/lint/", "rules/UW306/", "options/workers/"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_documentation_is_of_one_host_and_accessible(page, server, path, scheme):
    """And fits a phone."""
    page.width(400)
    page.scheme(scheme)
    page.open(path)
    assert all(address.startswith((server.address, "data:")) for address in page.js(REQUESTED))
    assert page.js("return document.documentElement.scrollWidth - innerWidth") <= 0
    assert serious(page) == []
    page.width(1280)


def test_the_documentation_is_searched_without_a_server(page):
    """A word of a rule leads to its page."""
    page.open("search/?q=harakiri")
    page.wait_for("#search-results a[href*='rules/UW306/']")


def test_every_link_of_the_site_leads_somewhere(site):
    """A relative one, of any page."""
    broken = set()
    for path in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', path.read_text()):
            target = (path.parent / unquote(link.partition("?")[0])).resolve()
            if not re.match(r"[a-z]+:", link) and not (target.exists() or target.is_dir()):
                broken.add((str(path.relative_to(site)), link))
    assert broken == set()


@pytest.mark.parametrize("browser", BROWSERS.values(), ids=BROWSERS)
def test_it_works_without_a_network_after_a_visit(site, tmp_path, browser):
    """The page and the engine are kept."""
    with serving(site.parent) as server, browser(server.address, tmp_path) as page:
        page.open()
        page.ready()
        page.driver.execute_async_script(
            "const done = arguments[0];"
            "const kept = async () => {"
            "  const keys = await (await caches.open('lab')).keys();"
            "  if (keys.length >= 12) done(); else setTimeout(kept, 50);"
            "}; kept()"
        )
        page.driver.get("about:blank")
        server.shutdown()
        server.server_close()
        page.open()
        page.ready()
        page.put(FAULT)
        assert "UW001" in page.text_of("#findings")


ASK = """
const [texts, done] = arguments;
const address = (name) => new URL(name, document.baseURI).href;
const source = `const early = []; self.onmessage = (event) => early.push(event);
  self.ENGINE = "${address(document.querySelector("meta[name=engine]").content)}";
  await import("${address("worker.js")}"); early.forEach((event) => self.onmessage(event));`;
const blob = new Blob([source], {type: "text/javascript"});
const worker = new Worker(URL.createObjectURL(blob), {type: "module"});
const replies = [];
worker.onmessage = ({data}) => {
  if (data.failed) done(data.failed);
  if (data.answer || data.fault) replies.push(data.answer ?? data.fault);
  if (replies.length === texts.length) done(replies);
};
texts.forEach((text, id) => worker.postMessage({id, what: "answered", request: {text}}));
"""


@in_chromium
def test_the_engine_answers_as_python_does(page, tmp_path, monkeypatch):
    """For the example of each rule and the corpus, with the modules that were packed."""
    monkeypatch.chdir(tmp_path)
    page.open()
    replies = page.driver.execute_async_script(ASK, [*TEXTS.values()])
    for (key, text), answer in zip(TEXTS.items(), replies, strict=True):
        expected = answers.answered(json.dumps({"text": text}))
        assert json.loads(answer) == json.loads(expected.replace(str(tmp_path), "/srv/app")), key


def test_two_builds_are_the_same(site):
    """So that a file which has not changed keeps its address."""
    from tools.site.__main__ import make_engine

    (engine,) = site.glob("engine-*")
    with tempfile.TemporaryDirectory() as folder:
        assert make_engine(Path(folder)) == engine.name
