// Makes pages from invented data, so that the interface can be tried without Rust:
//   node dev/make.mjs      writes dev/pages/{eval,compare,compare3,bench}{,-large}.html
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { inventReport } from "./invent.mjs";

const assets = new URL("../../crates/juror-report/assets/", import.meta.url).pathname;
const pages = new URL("pages/", import.meta.url).pathname;
const CHUNK = 64;

const script = readFileSync(`${assets}report.js`, "utf8");
const style = readFileSync(`${assets}report.css`, "utf8");
const main = readFileSync(new URL("static.html", import.meta.url), "utf8");

mkdirSync(pages, { recursive: true });
const kinds = { eval: ["eval", 1], compare: ["eval", 2], compare3: ["eval", 3], bench: ["bench", 1] };
for (const [name, [kind, n_runs]] of Object.entries(kinds)) {
  for (const [size, n] of [["", 20], ["-large", 10_000]]) {
    writeFileSync(`${pages}${name}${size}.html`, page(inventReport(kind, n_runs, n, CHUNK)));
  }
}
console.log(`pages in ${pages}`);

function page({ index, details }) {
  const chunks = [];
  for (let at = 0; at < details.length; at += CHUNK) chunks.push(details.slice(at, at + CHUNK));
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Report of invented data</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head>
<body class="juror" data-page="report">
${main.replace("<!-- notes -->", index.notes.map((note) => `<p class="note">${note}</p>`).join(""))}
${data("juror-index", index)}
${chunks.map((chunk, at) => data(`juror-chunk-${at}`, chunk)).join("\n")}
<script>${script}</script>
</body></html>
`;
}

function data(id, value) {
  return `<script type="text/plain" id="${id}">${gzipSync(JSON.stringify(value)).toString("base64")}</script>`;
}

function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
