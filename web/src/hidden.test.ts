import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces, visible } from "./hidden";

test("hidden characters are named", () => {
  const rows: [string, string][] = [
    ["plain\ttext\n", "plain\ttext\n"],
    ["a\u202eb", "a[U+202E]b"],
    ["\u200b\u200b\u200b", "[U+200B×3]"],
    ["\u200b\u200c", "[U+200B][U+200C]"],
    ["\u{e0041}x", "[U+E0041]x"],
    ["\0", "[U+0000]"],
    ["\ud800!", "[U+D800]!"],
    ["العربية and 日本語 🙂", "العربية and 日本語 🙂"],
  ];
  for (const [text, shown] of rows) assert.equal(visible(text), shown);
});

test("a text without hidden characters is one piece", () => {
  assert.deepEqual(pieces("<b>x</b>"), [{ text: "<b>x</b>", hidden: false }]);
});
