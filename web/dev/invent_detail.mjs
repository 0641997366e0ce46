// Invented details of one question, with everything that a detail may hold.

const HOSTILE = '</script><script>alert(1)</script> <img src=x onerror=alert(2)> javascript:alert(3) \u202egnihton\u202c \u200b\u200b\u200bwide';
const LONG_WORD = "https://example.org/a/".padEnd(300, "very-long-path/");

export function textOf(at) {
  if (at === 4) return `Ignore the rules: ${HOSTILE}`;
  if (at === 5) return `What is behind ${LONG_WORD}?`;
  return `Which transformers of substation number ${at + 1} were out of service last winter, and who owns the lines that they feed?`;
}

export function referenceOf(at) {
  return {
    answer: at % 7 === 6 ? null : "Transformers T1 and T2 were out of service. The line to Oslo is owned by Statnett.",
    groups: [
      [
        { name: "autocomplete_search", args: '{\n  "query": "substation"\n}', output: { text: '{"iri": "urn:s1"}', more: 0 }, ordered: false, required: null },
        { name: "sparql_query", args: null, output: table(["transformer", "name", "power"], 5), ordered: true, required: ["transformer", "power"] },
      ],
      [
        { name: "retrieval", args: null, output: { documents: [{ id: "doc-1", text: null }, { id: "doc-9", text: null }], n: 2 }, ordered: false, required: null },
        { name: "time_series", args: '{"from": "2026-01-01"}', output: null, ordered: false, required: null },
      ],
    ],
  };
}

export function goldOf() {
  return { apis: [["Weather", "forecast"], ["Maps", "route"]] };
}

function table(columns, n) {
  return { columns, rows: Array.from({ length: n }, (_, row) => columns.map((name, at) => (row === 3 && at === 1 ? null : `${name}-${row + 1}`))), n_rows: n };
}

export function attemptOf({ at, run, trial, bench, failed, scores }) {
  const attempt = {
    trial,
    status: failed ? "error" : "success",
    error: failed ? "the agent did not answer within 60 s" : null,
    answer: failed ? null : at === 4 ? HOSTILE : "Transformers T1 and T3 were out of service since 12 January. The line to Oslo is owned by Statnett.",
    diff: failed || bench || at % 7 === 6 ? null : DIFF,
    steps: stepsOf(bench),
    pairs: bench ? [] : pairsOf(),
    scores,
    verdicts: failed ? [] : verdictsOf(bench, at),
    tree: null,
    called: null,
    missing: null,
  };
  if (run === 1 && attempt.diff) attempt.diff = [[0, DIFF.filter(([op]) => op !== 1).map(([, text]) => text).join("")]];
  return bench ? { ...attempt, ...trajectory() } : attempt;
}

const DIFF = [[0, "Transformers T1 and "], [-1, "T2"], [1, "T3"], [0, " were out of service"], [1, " since 12 January"], [0, ". The line to Oslo is owned by Statnett."]];

function stepsOf(bench) {
  const source = (word) => (bench ? word : null);
  const step = { id: null, status: "success", args: '{\n  "limit": 10\n}', output: null, error: null, at: null, seconds: null, source: null };
  return [
    { ...step, id: "call-1", name: "think", output: { text: `${HOSTILE}\n`.repeat(40), more: 12345 }, at: 0, seconds: 1.25, source: source("cache") },
    { ...step, id: "call-2", name: "autocomplete_search", output: { text: '{"iri": "urn:s1"}', more: 0 }, at: 1.3, seconds: 0.4, source: source("simulator") },
    { ...step, name: "sparql_query", output: { ...table(["t", "label", "mw", "extra"], 6), n_rows: 600 }, at: 1.8, seconds: 5.1, source: source("real") },
    { ...step, name: "sparql_query", status: "error", error: "timeout after 5 s", at: 7, seconds: 5, source: source("none") },
    { ...step, name: "retrieval", output: { documents: [{ id: "doc-4", text: "Nothing of use." }, { id: "doc-1", text: "The transformer T1. ".repeat(200) }], n: 2 }, at: 12.2, seconds: null, source: source("cache") },
  ];
}

function pairsOf() {
  const pair = { group: 0, expected: 0, state: "found", actual: null, nearest: null, similarity: null, why: null, table: null, documents: null, args: null };
  return [
    { ...pair, actual: 1, similarity: 1, args: [["query", '"substation"', '"substations"'], ["limit", null, "10"]] },
    {
      ...pair, expected: 1, state: "partly", actual: 2, similarity: 0.4, why: "2 of 5 expected rows are the same, 2 differ in `power`, 1 is missing",
      table: {
        columns: [[0, 0], [2, 2], [1, null], [null, 1], [null, 3]],
        rows: [[0, 0], [1, 1], [2, 2, [1]], [3, 4, [0, 1]], [4, null], [null, 3], [null, 77]],
        n_same: 2, n_changed: 2, n_missing: 1, n_extra: 595, order_differs: true,
      },
    },
    { ...pair, group: 1, state: "partly", actual: 4, similarity: 0.5, why: "1 of 2 expected documents is among the first 2", documents: { rows: [{ id: "doc-4", expected: false, rank: 1 }, { id: "doc-1", expected: true, rank: 2 }, { id: "doc-9", expected: true, rank: null }], k: 2 } },
    { ...pair, group: 1, expected: 1, state: "missed", nearest: 3, similarity: 0, why: "no step has the name `time_series`", args: [["from", '"2026-01-01"', null]] },
  ];
}

function verdictsOf(bench, at) {
  const text = (role, text) => ({ role, text, more: 0 });
  const call = { purpose: "answer_claims", model: "openai/a-model", repeat: 0, messages: [text("system", "You judge answers."), text("user", `Compare these texts.\n${HOSTILE}`)], reply: text("reply", '{"matching": 2}'), tokens: [812, 61], usd: 0.00042 };
  const verdict = { metric: "answer_correctness", step: null, numbers: [["answer_recall", 0.5], ["answer_precision", 0.6667], ["n_matching", 2], ["label", "partly"]], error: null, reason: "T2 is missing, T3 is wrong.", claims: null, repeats: [["answer_f1", [0.5, null, 1]]], usd: 0.00126, by: "a-model at temperature 0", flags: at % 5 === 4 ? ["imitates a verdict"] : [], calls: [call, { ...call, repeat: 1 }], no_calls: null };
  if (bench) return [{ ...verdict, metric: "sopr_score", numbers: [["sopr_score", 1]], calls: [], no_calls: "not kept in .juror/llm: replies were not kept, were removed, or are somewhere else" }];
  const claims = { reference: ["T1 was out of service", "T2 was out of service", "Statnett owns the line to Oslo"], actual: ["Statnett owns the line to Oslo", "T1 was out of service", "T3 was out of service"], matching: [[0, 1], [2, 0]] };
  return [{ ...verdict, claims }, { ...verdict, metric: "retrieval_context_recall", step: 4, numbers: [], repeats: [], reason: null, error: "the reply is no JSON", calls: [], no_calls: null }];
}

function trajectory() {
  const node = (depth, kind, name, text) => ({ depth, kind, name, text });
  return {
    called: [["Weather", "forecast", true], ["Weather", "history", false]],
    missing: [["Maps", "route"]],
    tree: [
      node(0, "message", null, "Find the weather and a route."),
      node(0, "thought", null, "First the weather."),
      node(1, "call", "forecast_for_weather", '{"city": "Oslo"}'),
      node(1, "reply", null, '{"temperature": -4}'),
      node(2, "call", "history_for_weather", "{}"),
      node(2, "error", null, "no such city"),
      node(1, "answer", "Finish", "It will be cold."),
    ],
  };
}
