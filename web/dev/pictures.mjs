// Makes the pictures of the documents from the example: node dev/pictures.mjs [JUROR]
//
// JUROR is the program; target/release/juror if none is named. Needs Debian's chromium.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const project = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const juror = resolve(process.argv[2] ?? join(project, "target/release/juror"));
const examples = join(project, "examples");
const images = join(project, "docs/images");
const folder = mkdtempSync(join(tmpdir(), "juror-pictures-"));

const page = join(folder, "report.html");
execFileSync(juror, [
  "eval", join(examples, "reference.yaml"), join(examples, "responses.jsonl"),
  "-c", join(examples, "juror.yaml"), "--cache", join(examples, "replies.jsonl"),
  "--name", "The gardens of Thornfold", "-o", page, "--quiet",
]);

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
mkdirSync(images, { recursive: true });
const view = await browser.newPage({ viewport: { width: 1100, height: 900 }, deviceScaleFactor: 1 });
const address = pathToFileURL(page).href;
await view.goto(address);
await view.waitForSelector("#app table");
await view.screenshot({ path: join(images, "report.png"), clip: { x: 0, y: 0, width: 1100, height: 820 } });
await view.goto("about:blank");
await view.goto(`${address}#/?q=taxa-fern-vault`);
await view.waitForSelector(".question .answers");
const question = await view.$(".question");
const box = await question.boundingBox();
await view.screenshot({
  path: join(images, "question.png"),
  fullPage: true,
  clip: { x: box.x, y: box.y + (await view.evaluate(() => scrollY)), width: box.width, height: Math.min(box.height, 900) },
});
await browser.close();
rmSync(folder, { recursive: true });
