// node engine.mjs PYODIDE CHECKOUT PACKAGES OUT: runs pack.py inside Pyodide, as a module that is
// compiled needs the very Python that imports it.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, ...folders] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ env: { HOME: "/srv/app", PYTHONHASHSEED: "0" } });
["/checkout", "/packages", "/out"].forEach((place, index) => {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folders[index] }, place);
});
python.FS.mkdirTree("/srv/app");
python.FS.chdir("/srv/app");
python.runPython(fs.readFileSync(new URL("pack.py", import.meta.url), "utf8"));
