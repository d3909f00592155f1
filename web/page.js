// The page: it holds the text, sends it to the Worker, and shows the answer. No framework, no build.
const $ = (id) => document.getElementById(id);

// Returns an element; what a text has in it never becomes markup.
function make(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "role") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...inside.filter((part) => part != null));
  return element;
}
// Returns the parts of a sentence; what stands in backticks is code.
const prose = (sentence) => sentence.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
const note = (...inside) => make("p", { className: "note" }, ...inside);
// The name of a server stays as it is.
const capital = (sentence) => (/^(uWSGI|gunicorn|granian|nginx)\b/.test(sentence) ? sentence : sentence.charAt(0).toUpperCase() + sentence.slice(1));

const PAUSE = 200, LIMIT = 5000; // ms: after the last key, and of one check
const MOST_CHARACTERS = 1 << 16, MOST_LINES = 2000, MOST_CARDS = 200, MOST_LINK = 8000, MOST_TYPED = 300;
const MARKS = { error: "✕", dangerous: "!", "no effect": "–", remark: "·" };
const SEVERITIES = Object.keys(MARKS); // the worst first
const text = $("text"), editor = $("editor"), status = $("status"), kind = $("kind"), container = $("container");
const panels = [...document.querySelectorAll("[role=tabpanel]")];

let answer = null; // of the version that is shown
let version = 0, shown = -1;
let at = -1; // number of the finding that F8 went to
// What the tests wait for and measure.
const lab = (window.lab = { began: performance.now(), rounds: [] });

// -- the editor: a textarea over the same text with colours and squiggles ------------------------

const lines = () => text.value.split("\n");
const isCurrent = () => answer !== null && shown === version;
const findings = () => (isCurrent() && answer.findings?.list) || [];
// Python counts characters, and JavaScript units of UTF-16.
const offset = (line, column) => [...line].slice(0, column - 1).join("").length;
const start = (line, column) => (column > 1 ? offset(line, column) : line.length - line.trimStart().length);

function paint() {
  const worst = new Map();
  for (const finding of findings()) {
    const before = worst.get(finding.line);
    if (!before || SEVERITIES.indexOf(finding.severity) < SEVERITIES.indexOf(before.severity)) worst.set(finding.line, finding);
  }
  const under = document.createDocumentFragment(), gutter = document.createDocumentFragment();
  lines().forEach((line, index) => {
    const finding = worst.get(index + 1);
    if (finding) {
      const column = start(line, finding.column);
      under.append(...coloured(line.slice(0, column)), make("u", { "data-s": finding.severity }, ...coloured(line.slice(column))), "\n");
      gutter.append(make("i", { "data-s": finding.severity, "data-mark": MARKS[finding.severity] }, `${index + 1}`));
    } else {
      under.append(...coloured(line), "\n");
      gutter.append(make("i", {}, `${index + 1}`));
    }
  });
  $("under").replaceChildren(under);
  $("gutter").replaceChildren(gutter);
}

function coloured(line) {
  if (/^\s*[#;]/.test(line)) return [make("span", { className: "comment" }, line)];
  if (/^\s*\[/.test(line)) return [make("span", { className: "head" }, line)];
  const option = /^(\s*)([\w-]+)(\s*[:=].*)$/.exec(line);
  if (option) return [option[1], make("span", { className: "option" }, option[2]), option[3]];
  const words = line.split(/((?<=^|\s)--?[a-zA-Z][\w-]*)/);
  return words.map((word, index) => (index % 2 ? make("span", { className: "option" }, word) : word));
}

function select(line, column) {
  const all = lines();
  const begin = all.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const content = all[line - 1] ?? "";
  text.focus();
  text.setSelectionRange(begin + offset(content, column), begin + content.length);
  const top = (line - 1) * parseFloat(getComputedStyle(text).lineHeight);
  if (top < editor.scrollTop || top > editor.scrollTop + editor.clientHeight - 60) editor.scrollTop = Math.max(0, top - 60);
}

// Writes a text as if it were typed, so that Ctrl+Z takes it back; only what differs, as each line takes time.
function write(whole) {
  const old = text.value;
  let head = 0, tail = 0;
  while (head < old.length && head < whole.length && old[head] === whole[head]) head++;
  while (tail < old.length - head && tail < whole.length - head && old.at(-1 - tail) === whole.at(-1 - tail)) tail++;
  const middle = whole.slice(head, whole.length - tail);
  text.focus();
  text.setSelectionRange(head, old.length - tail);
  const typed = middle.split("\n").length <= MOST_TYPED && document.execCommand(middle ? "insertText" : "delete", false, middle);
  if (!typed) text.value = whole;
  changed(0);
}

// -- the Worker: one request at a time; a check that takes too long is stopped --------------------

let worker = null, isReady = false;
let current = null, next = null; // requests: {what, request, then, failed}
let timer = 0, stopped = ""; // the text whose check was stopped is not checked again

function engine() {
  if (worker) return;
  // A Worker of a blob has the policy of this page. One of a file would have none, as <meta> is not its own.
  const address = (name) => JSON.stringify(new URL(name, document.baseURI).href);
  const folder = document.querySelector("meta[name=engine]").content;
  const source = `const early = []; self.onmessage = (event) => early.push(event); self.ENGINE = ${address(folder)};
    await import(${address("worker.js")}); early.forEach((event) => self.onmessage(event));`;
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = (event) => notLoaded(event.message || "the console of the browser has the reason");
  status.classList.add("busy");
  if (!isCurrent()) say("Loading the linter (6 MB, once) …");
}

function heard(message) {
  if (message.failed) return notLoaded(message.failed);
  if (message.ready) {
    isReady = true;
    status.classList.remove("busy");
    Object.assign(lab, { ready: performance.now(), engine: message.ready });
    keep(message.ready.files);
    return;
  }
  if (message.begun) { // loading took its time, and does not count
    clearTimeout(timer);
    current.began = performance.now();
    timer = setTimeout(() => restart(`The check took longer than ${LIMIT / 1000} s and was stopped. Change the text to check it again.`), LIMIT);
    return;
  }
  clearTimeout(timer);
  // A stack that overflowed is the end of Pyodide, so a fault always takes a new Worker.
  if (message.fault) return restart("The linter failed on this text and was restarted. Change the text to check it again, and please report the text.", message.fault);
  const done = current;
  current = null;
  done.then(JSON.parse(message.answer), performance.now() - done.began);
  send(next);
}

function send(request) {
  if (!request) return;
  next = null;
  if (current) { next = request; return; } // the newest request wins
  current = request;
  engine();
  worker.postMessage({ id: version, what: request.what, request: request.request });
}

function restart(sentence, fault = "") {
  if (fault) console.warn(fault);
  stopped = current?.request.text ?? "";
  worker.terminate();
  worker = current = null;
  isReady = false;
  engine();
  say(sentence, true);
  lab.settled = version;
  if (next && next.request.text !== stopped) send(next);
  next = null;
}

function notLoaded(reason) {
  status.classList.remove("busy");
  say(`The linter could not be loaded: ${reason}`, true);
}

const request = (more) => ({ text: text.value, kind: kind.value, container: container.checked, ...more });

function tooLong(whole) {
  if (whole.length <= MOST_CHARACTERS && whole.split("\n").length <= MOST_LINES + 1) return "";
  const [count, characters] = [MOST_LINES, MOST_CHARACTERS].map((number) => number.toLocaleString("en"));
  return `This text is too long for the page, which reads ${count} lines and ${characters} characters.`;
}

let pause = 0, frame = 0;
function changed(wait = PAUSE) {
  lab.version = ++version;
  // A paste, and a fix, is an event a line: paint once a frame.
  frame ||= requestAnimationFrame(() => { frame = 0; paint(); });
  panels.forEach((panel) => panel.classList.add("stale"));
  clearTimeout(pause);
  pause = setTimeout(check, wait);
}

function check() {
  const mine = version, problem = tooLong(text.value);
  if (problem) return show({ findings: { error: problem } });
  if (!text.value.trim()) return show({});
  if (text.value === stopped) return;
  // The findings at once, as they take a tenth of the time; then the rest.
  send({ what: "answered", request: request({ parts: ["findings"] }), then(first, ms) {
    if (mine !== version) return;
    show({ ...first, ms });
    send({ what: "answered", request: request({ parts: ["missing", "translations"] }), then(rest, more) {
      lab.rounds.push([ms, more]);
      if (mine === version) show({ ...first, ...rest, ms });
    } });
  } });
}

// -- what is shown ---------------------------------------------------------------------------------

// A screen reader speaks a sentence that is another than before; of the milliseconds it speaks nothing.
function say(sentence, isBad = false) {
  if (status.textContent !== sentence) status.textContent = sentence;
  $("took").textContent = "";
  status.classList.toggle("bad", isBad);
}

function show(content) {
  answer = content;
  shown = version;
  at = -1;
  paint();
  kind.options[0].textContent = content.kind ? `guess: ${content.kind}` : "guess";
  const isWhole = Boolean(content.translations) || !content.kind;
  panels.forEach((panel) => panel.classList.toggle("stale", !isWhole && panel.id !== "findings"));
  showFindings();
  tally();
  if (!isWhole) return; // until then the others show what they showed
  showMissing();
  showTranslations();
  lab.settled = version;
}

function tally() {
  const { findings: part, ms } = answer;
  if (!part) return say("Paste a configuration, or choose an example.");
  if (part.error) return say(part.error, true);
  say(`${part.tally}.`);
  if (ms) $("took").textContent = `Checked in ${Math.max(1, Math.round(ms))} ms, in this tab.`;
}

const page = (code) => make("a", { href: `rules/${code}/`, className: "code" }, code);

function showFindings() {
  const part = answer.findings, list = part?.list ?? [];
  $("n-findings").textContent = list.length || "";
  if (!part) return $("findings").replaceChildren(note("Nothing to check yet."));
  if (part.error) return $("findings").replaceChildren(note(part.error));
  if (!list.length) return $("findings").replaceChildren(note("No findings. The linter knows options and values, and how they work together; it does not know your application."));
  const safe = list.filter((finding) => finding.fix?.safe).length;
  const worst = (finding) => SEVERITIES.indexOf(finding.severity);
  const sorted = [...list].sort((one, other) => worst(one) - worst(other) || one.line - other.line);
  $("findings").replaceChildren(
    safe ? make("p", { className: "actions" },
      make("button", { type: "button", onclick: () => fix() }, `Apply ${safe} safe fix${safe > 1 ? "es" : ""}`),
      note("A safe fix cannot change what is served, or how.")) : "",
    make("ol", { className: "cards", role: "list" }, ...sorted.slice(0, MOST_CARDS).map(card)),
    list.length > MOST_CARDS ? note(`… and ${list.length - MOST_CARDS} more.`) : "");
}

function card(finding) {
  const { code, line, column, severity } = finding;
  const [problem, ...advice] = finding.message.split("; ");
  const option = /^((?:no )?(?:--)?[\w-]+(?: = .*?)?): (.*)$/s.exec(problem);
  return make("li", { "data-s": severity, "data-line": line, "data-column": column },
    make("div", { className: "row" },
      make("span", { className: "severity" }, make("span", { "aria-hidden": "true" }, `${MARKS[severity]} `), severity),
      make("button", { type: "button", className: "place", onclick: () => select(line, column), "aria-label": `Go to line ${line}, ${code}` }, `line ${line}`),
      page(code)),
    make("p", { className: "message" }, ...(option ? [make("code", {}, option[1]), `: ${option[2]}`] : [problem])),
    advice.length && advice[0] !== `write ${finding.fix?.message}` ? make("p", { className: "advice" }, `${capital(advice.join("; "))}.`) : null,
    finding.fix ? make("div", { className: "actions" },
      make("button", { type: "button", onclick: () => fix(finding), "aria-label": `Fix ${code} in line ${line}: ${finding.fix.message}` }, "Fix"),
      make("code", {}, finding.fix.message),
      make("span", { className: "note" }, finding.fix.safe ? "safe" : "changes behaviour")) : null,
    explanation(code));
}

let rules = null;
const allRules = async () => (rules ??= await (await fetch("rules.json")).json());

function explanation(code) {
  const details = make("details", {}, make("summary", {}, "Why", make("span", { className: "hidden" }, ` ${code} is reported`)));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const rule = (await allRules())[code];
    if (!rule) return;
    details.append(make("p", {}, make("b", {}, `${rule.title}. `), rule.sentences.join(" ")));
    for (const [title, example] of rule.examples) details.append(make("h3", {}, title), make("pre", { className: "block", tabIndex: 0 }, example));
  });
  return details;
}

function fix(finding = null) {
  send({ what: "fixed", request: request({ finding }), then(content) {
    if (content.text === text.value) say("This fix changes nothing here.");
    else write(content.text);
  } });
}

function copyable(title, content) {
  const button = make("button", { type: "button", "aria-label": `Copy ${title}`, async onclick() {
    const copied = await navigator.clipboard.writeText(content).then(() => true, () => false);
    say(copied ? `Copied: ${title}.` : "The browser does not let this page copy: select the text instead.", !copied);
    button.textContent = copied ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  } }, "Copy");
  return [make("div", { className: "title" }, make("h3", {}, title), button), make("pre", { className: "block", tabIndex: 0, role: "group", "aria-label": title }, content)];
}

function rows(heads, pairs) {
  const head = make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name))));
  return make("table", {}, head, make("tbody", {}, ...pairs.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, ...[cell].flat()))))));
}

function showMissing() {
  const part = answer.missing, panel = $("missing"), list = part?.missing ?? [];
  $("n-missing").textContent = list.length || "";
  if (!part || part.error) return panel.replaceChildren(note(part?.error ?? "Nothing to check yet."));
  const isCommand = part.place === "Instead of your command";
  const [answered, ...others] = part.answer.split(/(?<=\.) /);
  const content = [make("p", {}, make("b", {}, answered), ` ${others.join(" ")}`)];
  if (list.length) {
    if (isCommand) content.push(...copyable(part.place, part.text));
    else if (part.block) content.push(...copyable(part.place, part.block.trimEnd()));
    const changes = isCommand ? [] : list.filter((lack) => lack.removed.length);
    if (changes.length) content.push(make("h3", {}, "Change"));
    for (const { removed, added } of changes) {
      const line = (className, sign, line) => make("span", { className }, `${sign} ${line}\n`);
      content.push(make("pre", { className: "block", tabIndex: 0, role: "group", "aria-label": "Change" }, ...removed.map((one) => line("removed", "-", one)), ...added.map((one) => line("added", "+", one))));
    }
    content.push(make("p", { className: "actions" }, make("button", { type: "button", onclick: () => panel.classList.contains("stale") || write(part.text) }, "Apply all of it to the text")));
    content.push(make("h3", {}, "Evidence"), rows(["Rule", "Reason and source"], list.map((lack) => [page(lack.code), prose(`${lack.reason}. Source: ${lack.evidence}`)])));
  }
  if (part.by_hand.length) content.push(make("h3", {}, "To edit by hand, in other files"), rows(["Rule", "What to do"], part.by_hand.map((one) => [page(one.code), `${one.reason}: ${one.why}`])));
  if (part.left.length) content.push(note(`Also found: ${[...new Set(part.left.map((one) => one.code))].join(", ")}; see Findings.`));
  panel.replaceChildren(...content);
}

let target = "";
function showTranslations() {
  const part = answer.translations, panel = $("translate");
  if (!part || part.error) return panel.replaceChildren(note(part?.error ?? "Nothing to translate yet."));
  const names = Object.keys(part);
  if (!names.includes(target)) target = names.find((name) => !part[name].error) ?? names[0];
  const choose = (name) => () => { target = name; showTranslations(); panel.querySelector("[aria-pressed=true]").focus(); };
  const buttons = names.map((name) => make("button", { type: "button", "aria-pressed": `${name === target}`, onclick: choose(name) }, name));
  const content = [make("div", { className: "targets", role: "group", "aria-label": "Translate to" }, ...buttons)];
  const made = part[target];
  if (made.error) return panel.replaceChildren(...content, note(made.error));
  content.push(...copyable(made.file, made.configuration.trimEnd()));
  if (made.environment) content.push(...copyable(`${made.to}.env`, made.environment.trimEnd()));
  content.push(make("p", {}, "Start it: ", make("code", {}, made.start)));
  if (made.open.length) content.push(note(...prose(`Conditions, with options of \`lab migrate\`: ${made.open.join(", ")}`)));
  // What nobody has to read stands last.
  for (const name of ["no_equivalent", "behaves_differently", "not_visible_in_the_configuration", "the_same"]) {
    if (!made[name].length) continue;
    content.push(make("h3", {}, `${capital(name.replaceAll("_", " "))} (${made[name].length})`));
    content.push(rows([made.from, made.to], made[name].map((pair) => [make("code", {}, pair.was), prose(pair.becomes)])));
  }
  if (made.nginx.length) content.push(...copyable("In nginx, in the location of the application", made.nginx.join("\n")));
  panel.replaceChildren(...content);
}

// -- tabs, keys, examples, links -------------------------------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")];
function open(tab, focus = true) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", other === tab);
    other.tabIndex = other === tab ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
  if (focus) tab.focus();
}
tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -index, End: tabs.length - 1 - index }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    open(tabs[(index + step + tabs.length) % tabs.length]);
  });
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "F8" || !isCurrent()) return;
  event.preventDefault();
  const cards = [...document.querySelectorAll("ol.cards > li")].sort((one, other) => one.dataset.line - other.dataset.line);
  if (!cards.length) return;
  at = at < 0 && event.shiftKey ? cards.length - 1 : (at + (event.shiftKey ? -1 : 1) + cards.length) % cards.length;
  cards.forEach((item, index) => item.classList.toggle("now", index === at));
  open(tabs[0], false);
  cards[at].scrollIntoView({ block: "nearest" });
  const { line, column } = cards[at].dataset;
  select(Number(line), Number(column));
  say(`Finding ${at + 1} of ${cards.length}, line ${line}: ${cards[at].querySelector(".message").textContent}`);
});

// The findings of the line that the caret is in.
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== text) return;
  const line = text.value.slice(0, text.selectionStart).split("\n").length;
  document.querySelectorAll("ol.cards > li").forEach((item) => item.classList.toggle("near", Number(item.dataset.line) === line));
});

text.maxLength = MOST_CHARACTERS; // cuts in silence what no event announces
text.addEventListener("input", () => { $("example").value = ""; changed(); });
for (const name of ["paste", "drop"]) {
  text.addEventListener(name, (event) => {
    const added = (event.clipboardData ?? event.dataTransfer)?.getData("text/plain") ?? "";
    const problem = tooLong(text.value.slice(0, text.selectionStart) + added + text.value.slice(text.selectionEnd));
    if (!problem) return setTimeout(() => changed(0));
    event.preventDefault();
    say(problem, true);
  });
}
for (const name of ["focus", "pointerenter"]) text.addEventListener(name, engine, { once: true });
for (const choice of [kind, container]) choice.addEventListener("change", () => changed(0));

// A link holds the text in its fragment, which no server gets: #1/KIND[,container]/TEXT, deflated, in base64url.
const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);
async function packed(content) {
  const bytes = new Uint8Array(await new Response(through(content, new CompressionStream("deflate-raw"))).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
async function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const reader = through(bytes, new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).text();
    parts.push(value);
    size += value.length;
    if (size > 4 * MOST_CHARACTERS) { // a link may unpack to gigabytes
      reader.cancel();
      throw new Error("too long");
    }
  }
}

const SECRET = /(pass|secret|token|key)[\w-]*\s*[=:]\s*\S|:\/\/[^\s/]*:[^\s/]*@/i;
$("share").addEventListener("click", async () => {
  const link = new URL(location.href);
  link.hash = `1/${kind.value || "-"}${container.checked ? ",container" : ""}/${await packed(text.value)}`;
  const length = link.href.length;
  if (length > MOST_LINK) return say(`A link with this text would have ${length.toLocaleString("en")} characters, more than many programs accept. Share the file instead.`, true);
  history.replaceState(null, "", link);
  const secret = SECRET.test(text.value);
  const warning = secret ? ", and something in it looks like a password: check it before you send it" : "";
  const copied = await navigator.clipboard.writeText(link.href).then(() => "copied", () => "in the address bar");
  say(`The link is ${copied}. It contains your text${warning}.`, secret);
});

const examples = await (await fetch("examples.json")).json();
$("example").append(make("option", { value: "", hidden: true }, "your text"));
$("example").append(...examples.map(({ key, title }) => make("option", { value: key }, title)));
$("example").addEventListener("change", () => {
  history.replaceState(null, "", location.pathname + location.search);
  example($("example").value);
});

function example(key) {
  const chosen = examples.find((one) => one.key === key) ?? examples[0];
  $("example").value = chosen.key;
  kind.value = "";
  container.checked = false;
  text.value = chosen.text;
  lab.version = ++version;
  show(chosen.answer);
}

function put(content) {
  text.value = content;
  $("example").value = "";
  changed(0);
}

async function follow() {
  const fragment = location.hash.slice(1);
  const link = /^1\/([\w.-]+)(,container)?\/([\w-]+)$/.exec(fragment);
  const code = /^rule=(\w+)$/.exec(fragment)?.[1].toUpperCase();
  if (link) {
    const content = await unpacked(link[3]).catch(() => null);
    if (content === null || tooLong(content)) {
      example();
      return say("The link is broken: this is an example instead.", true);
    }
    kind.value = [...kind.options].some((option) => option.value === link[1]) ? link[1] : "";
    container.checked = Boolean(link[2]);
    put(content);
  } else if (code && (await allRules())[code]) {
    kind.value = "";
    container.checked = rules[code].tries[0] ?? false;
    put(rules[code].text);
  } else if (!version || fragment.startsWith("example=")) { // the link to the results leaves the text as it is
    example(fragment.replace("example=", ""));
  }
}

// The page works without a network after a visit: see offline.js.
function keep(files) {
  const names = ["./", "page.css", "page.js", "worker.js", "examples.json", "rules.json"];
  const addresses = [...names.map((name) => new URL(name, document.baseURI).href), ...files];
  navigator.serviceWorker?.ready.then(({ active }) => active.postMessage({ keep: addresses }));
}
navigator.serviceWorker?.register("offline.js").catch((error) => console.info(`not kept: ${error}`));

window.addEventListener("hashchange", follow);
await follow();
lab.shown = performance.now();
