import assert from "node:assert/strict";
import { test } from "node:test";
import { partOf, ROW, topFor } from "./scrolling";

test("few rows are in the document, however many there are", () => {
  for (const top of [0, 500_000, 100_000 * ROW]) {
    const { first, end } = partOf(100_000, top, 600);
    assert.ok(end - first <= 200 && end <= 100_000 && first < end);
  }
  assert.ok(partOf(100_000, 0, 1_000_000).end <= 200);
});

test("visible rows are in the document", () => {
  const { first, end } = partOf(1000, 300 * ROW, 20 * ROW);
  assert.ok(first <= 300 && end >= 320);
});

test("a short table is there as a whole", () => {
  assert.deepEqual(partOf(3, 0, 600), { first: 0, end: 3 });
  assert.deepEqual(partOf(0, 0, 600), { first: 0, end: 0 });
});

test("a window moves only as far as needed", () => {
  assert.equal(topFor(5, 0, 10 * ROW), null);
  assert.equal(topFor(5, 6 * ROW, 10 * ROW), 5 * ROW);
  assert.equal(topFor(10, 0, 10 * ROW), ROW);
});
