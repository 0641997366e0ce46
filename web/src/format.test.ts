import assert from "node:assert/strict";
import { test } from "node:test";
import type { Unit } from "./contract";
import { count, difference, score, tendency } from "./format";

test("scores are shown in their unit", () => {
  const rows: [number | null, Unit | null, string][] = [
    [null, "fraction", "–"],
    [1, "fraction", "1.000"],
    [0.99999, "fraction", ">0.999"],
    [0.00001, "fraction", "<0.001"],
    [-0.25, "cosine", "−0.250"],
    [1, "truth", "yes"],
    [0, "truth", "no"],
    [0.5, "truth", "0.500"],
    [1234567, "tokens", "1,234,567"],
    [1234.5, "count", "1,234.5"],
    [3.14159, "seconds", "3.14"],
    [0.0001234, "usd", "0.000123"],
    [12.345, "usd", "12.35"],
    [7, null, "7"],
    [Number.NaN, "fraction", "–"],
  ];
  for (const [value, unit, shown] of rows) assert.equal(score(value, unit), shown);
});

test("differences carry their sign", () => {
  assert.equal(difference(0.25, "fraction"), "+0.250");
  assert.equal(difference(-1, "truth"), "−1.000");
  assert.equal(difference(0, "fraction"), "0.000");
  assert.equal(difference(null, "fraction"), "–");
});

test("what is better decides whether a difference is good", () => {
  assert.equal(tendency(0.1, "higher"), "good");
  assert.equal(tendency(0.1, "lower"), "bad");
  assert.equal(tendency(-0.1, "lower"), "good");
  assert.equal(tendency(0.1, null), "even");
  assert.equal(tendency(0, "higher"), "even");
});

test("one thing is not many", () => {
  assert.equal(count(1, "row"), "1 row");
  assert.equal(count(2000, "row"), "2,000 rows");
  assert.equal(count(0, "reply", "replies"), "0 replies");
});
