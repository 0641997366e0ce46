// Invented reports of the format juror.report/1. Equal arguments give equal reports.
import { attemptOf, goldOf, referenceOf, textOf } from "./invent_detail.mjs";

const GROUPS = { eval: ["Lines of a network", "Plants by owner", "Names (‮reversed)"], bench: ["G1_instruction", "G2_category"] };

const METRICS = {
  eval: [
    ["answer_f1", "fraction", "higher", true],
    ["steps_score", "fraction", "higher", false],
    ["retrieval_context_recall", "fraction", "higher", true],
    ["answer_relevance", "cosine", "higher", true],
    ["input_tokens", "tokens", "lower", false],
    ["elapsed_sec", "seconds", "lower", false],
    ["judge_cost", "usd", "lower", true],
    ["never_scored", "fraction", null, false],
  ],
  bench: [
    ["sopr_score", "fraction", "higher", true],
    ["api_recall", "fraction", "higher", false],
    ["finished", "truth", "higher", false],
    ["n_calls", "count", "lower", false],
  ],
};

export function inventReport(kind, n_runs, n, chunk) {
  const chance = generator(n_runs * 1000 + n);
  const metrics = METRICS[kind].map(([key, unit, better, judged]) => ({ key, unit, better, judged }));
  const runs = ["baseline", "candidate", "a third run with a rather long name"].slice(0, n_runs).map((name, at) => ({
    label: n_runs > 1 ? "ABC"[at] : "",
    name,
    id: null,
    began: null,
  }));
  const status = runs.map(() => Array.from({ length: n }, () => (chance() < 0.03 ? 1 : n_runs > 1 && chance() < 0.02 ? 2 : 0)));
  const scores = metrics.map((metric) => runs.map((_, run) => status[run].map((state) => (state ? null : scoreOf(metric, chance)))));
  const groups = GROUPS[kind];
  const group = Array.from({ length: n }, (_, at) => at % groups.length);
  const flags = group.map((_, at) => flagsOf(scores[0], at, chance));
  const n_trials = kind === "bench" ? 3 : 1;
  const index = {
    format: "juror.report/1",
    kind,
    runs,
    headline: metrics[0].key,
    groups,
    metrics,
    chunk,
    notes: n > 100 ? ["Outputs of 1,234 right questions were shortened to keep the report below 25 MB."] : [],
    questions: {
      id: group.map((_, at) => (at === 3 ? '<script>alert("id")</script>' : `question_${at + 1}`)),
      text: group.map((_, at) => textOf(at).slice(0, 200)),
      group,
      scores,
      status,
      flags,
      trials: n_trials > 1 ? runs.map(() => group.map(() => n_trials)) : null,
    },
  };
  return { index, details: group.map((_, at) => detailOf(index, at, n_trials)) };
}

function scoreOf({ key, unit }, chance) {
  const value = chance();
  if (key === "never_scored") return null;
  if (unit === "tokens") return Math.round(value * 5000);
  if (unit === "count") return Math.round(value * 12);
  if (unit === "seconds") return value * 40;
  if (unit === "usd") return value * 0.01;
  if (unit === "truth") return value < 0.7 ? 1 : 0;
  return value < 0.6 ? 1 : value < 0.75 ? 0 : value;
}

function flagsOf(headline, at, chance) {
  const [first, ...later] = headline.map((run) => run[at]);
  let flags = 0;
  if (first === 1 && later.some((score) => score !== null && score < 1)) flags |= 1;
  if (first !== null && first < 1 && later.includes(1)) flags |= 2;
  for (const bit of [4, 8, 16, 32]) if (chance() < 0.06) flags |= bit;
  return flags;
}

function detailOf(index, at, n_trials) {
  const { status, scores } = index.questions;
  const bench = index.kind === "bench";
  const runs = index.runs.map((_, run) => {
    if (status[run][at] === 2) return [];
    const own = Object.fromEntries(index.metrics.map(({ key }, metric) => [key, scores[metric][run][at]]));
    return Array.from({ length: n_trials }, (_, trial) => attemptOf({ at, run, trial: bench ? trial + 1 : null, bench, failed: status[run][at] === 1, scores: own }));
  });
  return { text: textOf(at), reference: bench ? null : referenceOf(at), gold: bench ? goldOf(at) : null, runs };
}

/** A linear congruential generator, so that pages stay the same. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
