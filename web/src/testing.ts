import type { Index } from "./contract";

/** Four questions of two runs, for tests. */
export const INDEX: Index = {
  format: "juror.report/1",
  kind: "eval",
  runs: [
    { label: "A", name: "before", id: null, began: null },
    { label: "B", name: "after", id: null, began: null },
  ],
  headline: "right",
  groups: ["Lines", "Plants (x)"],
  metrics: [
    { key: "right", unit: "fraction", better: "higher", judged: false },
    { key: "odd@1", unit: "count", better: null, judged: false },
  ],
  chunk: 64,
  notes: [],
  questions: {
    id: ["q10", "q2", "q1", "q3"],
    text: ["Which line?", "Which plant?", "How many lines?", "Who?"],
    group: [0, 1, 0, 1],
    scores: [
      [[1, 0.5, null, 1], [0.5, 1, 1, null]],
      [[1, 2, 3, 4], [4, 3, 2, 1]],
    ],
    status: [[0, 0, 2, 0], [0, 0, 0, 1]],
    flags: [1, 2, 4, 1 | 8 | 16],
    trials: null,
  },
};
