import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, START, writeAddress, type View } from "./address";

test("a view survives its address", () => {
  const views: View[] = [
    START,
    { ...START, show: "broken", group: "a & b = c?", find: "100% + ünï#", regex: true },
    { ...START, sort: "answer_f1~1", dir: "down", columns: ["a", "b,c"], q: "q/1", g: "", run: 1, trial: 0 },
  ];
  for (const view of views) assert.deepEqual(readAddress(writeAddress(view)), view);
});

test("parts that say what is so anyway are left out", () => {
  assert.equal(writeAddress(START), "#/");
  assert.equal(writeAddress({ ...START, find: "a b" }), "#/?find=a%20b");
});

test("plain anchors are no views", () => {
  for (const hash of ["#metrics", "#/metrics"]) assert.equal(readAddress(hash), null);
});

test("no fragment is the view that everybody starts with", () => {
  for (const hash of ["", "#"]) assert.deepEqual(readAddress(hash), START);
});

test("unknown and malformed parts count as absent", () => {
  assert.deepEqual(readAddress("#/?show=nothing&run=-1&trial=x&dir=left&other=1"), START);
  assert.equal(readAddress("#/?find=%E0%A4%A")?.regex, false);
});

test("half of a surrogate pair does not stop an address", () => {
  assert.equal(writeAddress({ ...START, find: "\ud800" }), "#/?find=%EF%BF%BD");
});
