// Bundles the interface into the files that the Rust crate puts into every report, and into the pages
// of the viewer.
// The same sources and lock file give the same bytes, so the committed bundle can be compared.
// A folder as the argument gets the files instead.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const here = new URL(".", import.meta.url).pathname;
const assets = process.argv[2] ?? new URL("../crates/juror-report/assets/", import.meta.url).pathname;
const MOST_BYTES = 45_000;

// The licence of preact asks that its text goes along with every copy.
const licence = readFileSync(`${here}node_modules/preact/LICENSE`, "utf8").replace(/\r/g, "").trim();

const options = {
  absWorkingDir: here,
  outdir: assets,
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2020",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
};
const report = await build({
  ...options,
  entryPoints: { report: "src/main.tsx", style: "src/style/report.css" },
  banner: { js: `/* This file contains preact.\n${licence}\n*/` },
});
const view = await build({ ...options, entryPoints: { view: "src/view/main.ts", style: "src/view/view.css" } });

const files = {
  "report.js": text(report, ".js"),
  "report.css": text(report, ".css"),
  "view.js": text(view, ".js"),
  "view.css": text(view, ".css"),
};
for (const [name, content] of Object.entries(files)) {
  // These would end the element that holds the file, or change how the rest of it is read.
  // Browsers read carriage returns as line feeds, and the hash in the page's policy would not fit.
  const wrong = /<\/(script|style)|<!--|<script|\r|\0/i.exec(content);
  if (wrong) throw new Error(`${name} contains \`${wrong[0]}\``);
}
const size = gzipSync(files["report.js"] + files["report.css"], { level: 9 }).length;
if (size > MOST_BYTES) throw new Error(`the bundle has ${size} bytes compressed, more than ${MOST_BYTES}`);

mkdirSync(assets, { recursive: true });
for (const [name, content] of Object.entries(files)) writeFileSync(assets + name, content);
console.log(`report.js and report.css: ${size} bytes compressed`);

function text({ outputFiles }, ending) {
  return outputFiles.find((file) => file.path.endsWith(ending)).text;
}
