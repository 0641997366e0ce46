import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour } from "./use_keys";

const any = () => true;

test("a move follows the order of the list and ends with it", () => {
  assert.equal(neighbour([5, 3, 9], 3, 1, any), 9);
  assert.equal(neighbour([5, 3, 9], 3, -1, any), 5);
  assert.equal(neighbour([5, 3, 9], 9, 1, any), null);
});

test("a move from outside the list enters it at the near end", () => {
  assert.equal(neighbour([5, 3, 9], -1, 1, any), 5);
  assert.equal(neighbour([5, 3, 9], 7, -1, any), 9);
  assert.equal(neighbour([], 7, 1, any), null);
});

test("a move to a kind passes over others", () => {
  assert.equal(neighbour([5, 3, 9, 4], 5, 1, (at) => at === 4), 4);
  assert.equal(neighbour([5, 3, 9, 4], 5, 1, () => false), null);
});
