// Opens the pages of make.mjs in Chromium: tries what people do, looks for problems of accessibility,
// and writes pictures to dev/pages. Set CHROMIUM if the browser is elsewhere.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const pages = new URL("pages/", import.meta.url);
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];

const OPEN = "#/?q=question_3&sort=id";
const looks = [
  ["eval", "", {}],
  ["eval", OPEN, {}],
  ["eval", "#/?q=question_5", { colorScheme: "dark" }],
  ["eval", OPEN, { viewport: { width: 360, height: 740 } }],
  ["eval", "", { viewport: { width: 360, height: 740 }, colorScheme: "dark" }],
  ["compare", "#/?show=broken", {}],
  ["compare", OPEN, { colorScheme: "dark" }],
  ["compare3", OPEN, {}],
  ["bench", "#/?q=question_2&trial=1", {}],
  ["bench", "", { colorScheme: "dark" }],
  ["eval-large", "#/?find=%28&regex=1", {}],
];
for (const [at, look] of looks.entries()) await lookAt(at, ...look);
for (const kind of ["eval", "compare", "compare3", "bench"]) await useKeys(kind);
await measure("eval-large");
await printed("compare", OPEN);
await browser.close();
for (const problem of problems) console.log(problem);
process.exitCode = problems.length ? 1 : 0;

async function opened(name, hash, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: options.axe ?? false, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`${name}: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && problems.push(`${name}: ${message.text()}`));
  page.on("dialog", (dialog) => problems.push(`${name}: a script of the data ran: ${dialog.message()}`));
  page.on("request", (request) => request.url().startsWith("file:") || problems.push(`${name}: asked for ${request.url()}`));
  await page.goto(new URL(`${name}.html`, pages).href + hash);
  await page.waitForSelector(".grid");
  if (hash.includes("q=")) await page.waitForSelector(".answers");
  return page;
}

async function lookAt(at, name, hash, options) {
  const page = await opened(name, hash, { ...options, axe: true });
  const what = `${String(at).padStart(2, "0")}-${name}${options.colorScheme ? "-dark" : ""}${options.viewport ? "-narrow" : ""}`;
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wider > 0) problems.push(`${what}: the page is ${wider} pixels wider than the window`);
  for (const fold of await page.$$("details:not([open])")) await fold.evaluate((details) => details.closest(".column-choice") || (details.open = true));
  await page.waitForTimeout(50);
  await page.screenshot({ path: new URL(`${what}.png`, pages).pathname, fullPage: true });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, nodes } of violations) problems.push(`${what}: ${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(" | ")}`);
  await page.context().close();
}

function expect(name, what, is, wanted) {
  if (is !== wanted) problems.push(`${name}: ${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(wanted)}`);
}

async function useKeys(name) {
  const page = await opened(name, "");
  const title = () => page.textContent("#question-title");
  const focus = () => page.evaluate(() => document.activeElement?.textContent);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(name, "j moves the focus", await focus(), "question_2");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".answers");
  expect(name, "Enter opens", await title(), "question_2");
  expect(name, "the title has the focus", await focus(), "question_2");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(name, "a hostile id is text", await title(), '<script>alert("id")</script>');
  await page.keyboard.press("k");
  expect(name, "k goes back", await title(), "question_3");
  await page.waitForFunction(() => location.hash.includes("question_3"));
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".question"));
  expect(name, "Escape gives the focus back", await focus(), "question_3");
  await page.goBack();
  await page.waitForSelector(".question");
  expect(name, "back opens again", await title(), "question_3");
  await page.goForward();
  await page.keyboard.press("/");
  await page.keyboard.type("question_1j");
  expect(name, "keys are typed in fields", await page.inputValue("input[type=search]"), "question_1j");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelectorAll(".questions tbody:not(.space) tr").length === 11);
  await page.keyboard.press("?");
  expect(name, "? lists the keys", await page.isVisible("dialog"), true);
  await page.keyboard.press("Escape");
  expect(name, "Escape closes the list", await page.isVisible("dialog"), false);
  await page.click(".questions thead button >> nth=0");
  await page.click(".questions thead button >> nth=0");
  expect(name, "titles sort", await page.textContent(".questions tbody:not(.space) th"), "question_19");
  await page.click('a[href="#metrics"]');
  expect(name, "anchors keep the list", await page.locator(".questions tbody:not(.space) tr").count(), 11);
  await page.context().close();
}

async function measure(name) {
  const page = await opened(name, "");
  const ms = await page.evaluate(() => Math.round(performance.now()));
  const counts = [];
  for (const top of [0, 100_000, 150_000, 1e9]) {
    await page.evaluate((to) => (document.querySelector(".grid").scrollTop = to), top);
    await page.waitForTimeout(50);
    counts.push(await page.locator(".questions tr").count());
  }
  const last = await page.textContent(".questions tbody:not(.space) tr:last-child th");
  expect(name, "the last row can be reached", last, "question_10000");
  console.log(`${name}: listed within ${ms} ms, rows in the document: ${counts.join(", ")}`);
  await page.context().close();
}

async function printed(name, hash) {
  const page = await opened(name, hash);
  await page.pdf({ path: new URL("print.pdf", pages).pathname, format: "A4" });
  await page.context().close();
}
