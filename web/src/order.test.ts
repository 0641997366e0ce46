import assert from "node:assert/strict";
import { test } from "node:test";
import { START } from "./address";
import { changeOf, sorted } from "./order";
import { INDEX } from "./testing";

function check(sort: string | null, up: number[], down: number[]) {
  assert.deepEqual(sorted(INDEX, [0, 1, 2, 3], { ...START, sort }), up);
  assert.deepEqual(sorted(INDEX, [0, 1, 2, 3], { ...START, sort, dir: "down" }), down);
}

test("numbers in names sort as numbers", () => check("id", [2, 1, 3, 0], [0, 3, 1, 2]));

test("equal values keep the order of the report", () => check("group", [0, 2, 1, 3], [1, 3, 0, 2]));

test("what has no value comes last in both directions", () => {
  check("right@0", [1, 0, 3, 2], [0, 3, 1, 2]);
  check("right~1", [0, 1, 2, 3], [1, 0, 2, 3]);
});

test("a metric without a run means the last run", () => check("right", [0, 1, 2, 3], [1, 2, 0, 3]));

test("a metric may have a name that looks like a run", () => {
  check("odd@1", [3, 2, 1, 0], [0, 1, 2, 3]);
  check("odd@1@0", [0, 1, 2, 3], [3, 2, 1, 0]);
});

test("an unknown column changes nothing", () => check("nothing", [0, 1, 2, 3], [0, 1, 2, 3]));

test("the worst status of all runs counts", () => check("status", [0, 1, 3, 2], [2, 3, 0, 1]));

test("there is no difference without two scores", () => {
  assert.equal(changeOf(INDEX, 0, 1, 0), -0.5);
  assert.equal(changeOf(INDEX, 0, 1, 2), null);
});
