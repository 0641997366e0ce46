import assert from "node:assert/strict";
import { test } from "node:test";
import { START } from "./address";
import { metricColumns } from "./columns";
import { INDEX } from "./testing";

test("a comparison has scores and differences", () => {
  const [right] = metricColumns(INDEX, START);
  assert.deepEqual(
    right?.cells.map(({ sort, title }) => [sort, title]),
    [["right@0", "A"], ["right@1", "B"], ["right~1", "B−A"]],
  );
});

test("one run has one column for a metric", () => {
  const index = { ...INDEX, runs: INDEX.runs.slice(0, 1) };
  assert.deepEqual(metricColumns(index, START).map(({ cells }) => cells.length), [1, 1]);
});

test("the headline comes first", () => {
  const index = { ...INDEX, headline: "odd@1" };
  assert.deepEqual(metricColumns(index, START).map(({ metric }) => metric.key), ["odd@1", "right"]);
});

test("named metrics have columns, and no others", () => {
  assert.deepEqual(metricColumns(INDEX, { ...START, columns: ["odd@1", "nothing"] }).map(({ at }) => at), [1]);
});

test("metrics without scores need no column", () => {
  const scores = [INDEX.questions.scores[0]!, [[null, null, null, null], [null, null, null, null]]];
  const index = { ...INDEX, questions: { ...INDEX.questions, scores } };
  assert.deepEqual(metricColumns(index, START).map(({ at }) => at), [0]);
});
