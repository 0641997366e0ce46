import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActualStep, Attempt, ExpectedStep, StepPair } from "../contract";
import { lastEnd, stepLines } from "./lines";

const step: ActualStep = { id: null, name: "s", status: null, args: null, output: null, error: null, at: null, seconds: null, source: null };
const expected: ExpectedStep = { name: "e", args: null, output: null, ordered: false, required: null };

function pair(at: number, actual: number | null): StepPair {
  const state = actual === null ? "missed" : "found";
  return { group: 0, expected: at, state, actual, nearest: null, similarity: null, why: null, table: null, documents: null, args: null };
}

function lines(n_steps: number, pairs: StepPair[], n_expected = pairs.length): [boolean, number | null][] {
  const attempt = { steps: Array(n_steps).fill(step), pairs } as unknown as Attempt;
  const reference = { answer: null, groups: [Array(n_expected).fill(expected)] };
  return stepLines(reference, attempt).map((line) => [line.expected !== null, line.actual]);
}

test("steps without a partner stand where they happened", () => {
  assert.deepEqual(lines(4, [pair(0, 1), pair(1, null), pair(2, 2)]), [
    [false, 0],
    [true, 1],
    [true, null],
    [true, 2],
    [false, 3],
  ]);
});

test("every step is shown once, in whatever order the steps of a group came", () => {
  const shown = lines(5, [pair(0, 3), pair(1, 1)]).flatMap(([, actual]) => (actual === null ? [] : [actual]));
  assert.deepEqual([...shown].sort(), [0, 1, 2, 3, 4]);
});

test("steps that were not scored are not paired", () => {
  assert.deepEqual(lines(1, [], 1), [
    [true, null],
    [false, 0],
  ]);
});

test("times end with the last step", () => {
  assert.equal(lastEnd([step]), null);
  assert.equal(lastEnd([{ ...step, at: 1, seconds: 5 }, { ...step, at: 2, seconds: null }]), 6);
});
