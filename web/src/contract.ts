// The data of a report page (juror.report/1), as the Rust side writes it.

export interface Index {
  format: "juror.report/1";
  kind: "eval" | "bench";
  runs: RunName[];
  /** The metric by which questions are right, broken, fixed. */
  headline: string | null;
  groups: string[];
  metrics: Metric[];
  /** Questions in a chunk of details. */
  chunk: number;
  /** What was left out or shortened; the static page says it. */
  notes: string[];
  questions: Questions;
}

export interface RunName {
  label: string;
  name: string;
  id: string | null;
  began: string | null;
}

export type Unit = "fraction" | "cosine" | "tokens" | "seconds" | "usd" | "count" | "truth";

export interface Metric {
  key: string;
  unit: Unit | null;
  better: "higher" | "lower" | null;
  judged: boolean;
}

export interface Questions {
  id: string[];
  text: string[];
  group: number[];
  /** By metric, run and question. */
  scores: (number | null)[][][];
  /** By run and question. */
  status: number[][];
  flags: number[];
  trials: number[][] | null;
}

export const STATUS = { answered: 0, error: 1, absent: 2 } as const;

export const FLAG = { broken: 1, fixed: 2, unsure: 4, imitates: 8, sometimes: 16, shortened: 32 } as const;

export interface Detail {
  text: string;
  reference: Reference | null;
  gold: Gold | null;
  runs: Attempt[][];
}

export interface Reference {
  answer: string | null;
  groups: ExpectedStep[][];
}

export interface ExpectedStep {
  name: string;
  args: string | null;
  output: Shown | null;
  ordered: boolean;
  required: string[] | null;
}

export type Api = [tool: string, api: string];

export interface Gold {
  apis: Api[];
}

/** Found only in the reference, in both texts, or only in the answer. */
export type Difference = [op: -1 | 0 | 1, text: string];

export interface Attempt {
  trial: number | null;
  status: "success" | "error";
  error: string | null;
  answer: string | null;
  diff: Difference[] | null;
  steps: ActualStep[];
  pairs: StepPair[];
  scores: Record<string, number | null>;
  verdicts: Verdict[];
  tree: TreeNode[] | null;
  called: [tool: string, api: string, right: boolean][] | null;
  missing: Api[] | null;
}

export interface ActualStep {
  id: string | null;
  name: string;
  status: string | null;
  args: string | null;
  output: Shown | null;
  error: string | null;
  at: number | null;
  seconds: number | null;
  source: string | null;
}

export type Shown = ShownText | ShownTable | ShownDocuments;
export interface ShownText {
  text: string;
  more: number;
}
export interface ShownTable {
  columns: string[];
  rows: (string | null)[][];
  n_rows: number;
}
export interface ShownDocuments {
  documents: { id: string; text: string | null }[];
  n: number;
}

export interface StepPair {
  group: number;
  expected: number;
  state: "found" | "partly" | "missed" | "not_scored";
  actual: number | null;
  nearest: number | null;
  similarity: number | null;
  why: string | null;
  table: TableAlignment | null;
  documents: DocumentAlignment | null;
  args: ArgumentDifference[] | null;
}

export type AlignedRow = [expected: number | null, actual: number | null, differing?: number[]];

export interface TableAlignment {
  columns: [expected: number | null, actual: number | null][];
  rows: AlignedRow[];
  n_same: number;
  n_changed: number;
  n_missing: number;
  n_extra: number;
  order_differs: boolean;
}

export interface DocumentAlignment {
  rows: { id: string; expected: boolean; rank: number | null }[];
  k: number | null;
}

export type ArgumentDifference = [name: string, expected: string | null, actual: string | null];

export interface Claims {
  reference: string[];
  actual: string[];
  matching: [number, number][];
}

export interface Verdict {
  metric: string;
  step: number | null;
  numbers: [name: string, value: number | string | null][];
  error: string | null;
  reason: string | null;
  claims: Claims | null;
  repeats: [name: string, values: (number | string | null)[]][];
  usd: number | null;
  by: string | null;
  flags: string[];
  calls: Call[];
  /** Why the calls are not there, if they are not. */
  no_calls: string | null;
}

/** What a judge was asked, and what it replied. */
export interface Call {
  purpose: string;
  model: string;
  repeat: number;
  messages: CallText[];
  reply: CallText;
  tokens: [sent: number, written: number];
  usd: number | null;
}

export interface CallText {
  role: string;
  text: string;
  more: number;
}

export interface TreeNode {
  depth: number;
  kind: string;
  name: string | null;
  text: string;
}
