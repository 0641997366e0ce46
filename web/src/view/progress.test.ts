import assert from "node:assert/strict";
import { test } from "node:test";
import { progressText } from "./progress";

test("progress never exceeds the whole, and the whole may be unknown", () => {
  const of = (done: number, all: number | null) => progressText({ id: "a", state: "running", done, all });
  assert.deepEqual([of(3, 10), of(12, 10), of(4, null)], ["3 of 10", "10 of 10", "4"]);
});
