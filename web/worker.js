// The linter in a Worker: Pyodide, with web/answers.py in it. It answers one request after the other.
const base = new URL(self.ENGINE);
const say = (message) => self.postMessage(message);
const used = [];

// Pyodide asks for its files by name. They lie there as .gz, so that no host has to compress them.
const TYPES = { "pyodide.asm.wasm": "application/wasm", "stdlib.zip": "application/zip", "lab.zip": "application/zip" };
const plain = self.fetch.bind(self);

async function unpacked(name) {
  const address = new URL(`${name}.gz`, base).href;
  used.push(address);
  const response = await plain(address);
  if (!response.ok) throw new Error(`${name}.gz: status ${response.status}`);
  const packed = response.headers.get("Content-Encoding") !== "gzip"; // a host may unpack it itself
  const body = packed ? response.body.pipeThrough(new DecompressionStream("gzip")) : response.body;
  return new Response(body, { headers: { "Content-Type": TYPES[name] } });
}

self.fetch = (resource, options) => {
  const name = String(resource?.url ?? resource).split("/").pop();
  return name in TYPES ? unpacked(name) : plain(resource, options);
};

async function start() {
  const begin = performance.now();
  const archive = unpacked("lab.zip").then((response) => response.arrayBuffer());
  const loader = new URL("pyodide.mjs", base).href, lock = new URL("lock.json", base).href;
  used.push(loader, new URL("pyodide.asm.mjs", base).href, lock);
  const [{ loadPyodide }, lockFileContents] = await Promise.all([import(loader), plain(lock).then((response) => response.text())]);
  const pyodide = await loadPyodide({
    indexURL: base.href, stdLibURL: new URL("stdlib.zip", base).href, lockFileContents, packages: [],
    env: { HOME: "/srv/app" }, stdout: () => {}, stderr: (line) => console.warn(line),
  });
  const loaded = performance.now();
  pyodide.FS.mkdirTree("/srv/app"); // stays empty: what a relative path of a configuration would be in
  pyodide.FS.chdir("/srv/app");
  pyodide.unpackArchive(await archive, "zip", { extractDir: "/lab" });
  pyodide.runPython("import sys; sys.path.insert(0, '/lab')");
  const answers = pyodide.pyimport("web.answers");
  answers.warm();
  say({ ready: { load: Math.round(loaded - begin), warm: Math.round(performance.now() - loaded), files: used } });
  return answers;
}

const started = start();
started.catch((error) => say({ failed: String(error).slice(-400) }));

self.onmessage = async ({ data: { id, what, request } }) => {
  const answers = await started;
  say({ id, begun: true });
  try {
    say({ id, answer: answers[what](JSON.stringify(request)) });
  } catch (error) {
    say({ id, fault: String(error).slice(-600) });
  }
};
