import assert from "node:assert/strict";
import { test } from "node:test";
import { START, type Show, type View } from "./address";
import { select, showCounts } from "./selection";
import { INDEX } from "./testing";

function check(change: Partial<View>, rows: number[]) {
  assert.deepEqual(select(INDEX, { ...START, ...change }).rows, rows);
}

test("each choice shows its questions", () => {
  const rows: [Show, number[]][] = [
    ["all", [0, 1, 2, 3]],
    ["wrong", [0, 3]],
    ["broken", [0, 3]],
    ["fixed", [1]],
    ["error", [3]],
    ["unsure", [2]],
    ["flagged", [3]],
    ["sometimes", [3]],
  ];
  for (const [show, expected] of rows) check({ show }, expected);
});

test("counts agree with what is shown", () => {
  const counts = showCounts(INDEX);
  for (const show of Object.keys(counts) as Show[]) {
    assert.equal(counts[show], select(INDEX, { ...START, show }).rows.length);
  }
});

test("without a headline only errors are wrong", () => {
  assert.deepEqual(select({ ...INDEX, headline: null }, { ...START, show: "wrong" }).rows, [3]);
});

test("filters add up", () => {
  check({ group: "Lines" }, [0, 2]);
  check({ group: "Lines", show: "broken" }, [0]);
  check({ group: "no such group" }, []);
});

test("texts are found in id, group and text without regard to case", () => {
  check({ find: "Q1" }, [0, 2]);
  check({ find: "PLANTS (" }, [1, 3]);
  check({ find: "many" }, [2]);
  check({ find: "^q1$" }, []);
});

test("expressions match line by line", () => {
  check({ find: "^q1$", regex: true }, [2]);
  check({ find: "^which (line|plant)", regex: true }, [0, 1]);
});

test("a wrong expression is said and filters nothing", () => {
  const { rows, problem } = select(INDEX, { ...START, find: "(", regex: true });
  assert.equal(rows.length, 4);
  assert.match(problem ?? "", /regular expression/);
});
