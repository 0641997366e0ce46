// The order of the table's rows.

import type { View } from "./address";
import type { Index } from "./contract";

type Value = string | number | null;

/** Sorts positions of questions. What has no value comes last in both directions. */
export function sorted(index: Index, rows: number[], { sort, dir }: View): number[] {
  const valueOf = sort === null ? null : sortValue(index, sort);
  if (!valueOf) return rows;
  const sign = dir === "down" ? -1 : 1;
  const { compare } = new Intl.Collator("en", { numeric: true });
  const keyed = rows.map((at) => ({ at, value: valueOf(at) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null) || a.at - b.at;
    const order = typeof a.value === "string" ? compare(a.value, String(b.value)) : a.value - Number(b.value);
    return sign * order || a.at - b.at;
  });
  return keyed.map(({ at }) => at);
}

/** What a column sorts by; null if there is no such column. */
function sortValue(index: Index, key: string): ((at: number) => Value) | null {
  const { id, text, group, status } = index.questions;
  switch (key) {
    case "id":
      return (at) => id[at] ?? null;
    case "text":
      return (at) => text[at] ?? null;
    case "group":
      return (at) => index.groups[group[at] ?? -1] ?? null;
    case "status":
      return (at) => Math.max(...status.map((run) => run[at] ?? 0));
    default:
      return metricValue(index, key);
  }
}

/** `KEY@1` is the score of run 1, `KEY~1` its difference to run 0, `KEY` the score of the last run. */
function metricValue(index: Index, key: string): ((at: number) => Value) | null {
  const whole = metricAt(index, key);
  if (whole !== -1) return (at) => scoreOf(index, whole, index.runs.length - 1, at);
  const parts = /^(.*)([@~])(\d+)$/s.exec(key);
  const metric = parts ? metricAt(index, parts[1]!) : -1;
  if (!parts || metric === -1) return null;
  const run = Number(parts[3]);
  return parts[2] === "@" ? (at) => scoreOf(index, metric, run, at) : (at) => changeOf(index, metric, run, at);
}

function metricAt(index: Index, key: string): number {
  return index.metrics.findIndex((metric) => metric.key === key);
}

export function scoreOf(index: Index, metric: number, run: number, at: number): number | null {
  return index.questions.scores[metric]?.[run]?.[at] ?? null;
}

/** A run's score less that of run 0; null unless both have one. */
export function changeOf(index: Index, metric: number, run: number, at: number): number | null {
  const before = scoreOf(index, metric, 0, at);
  const after = scoreOf(index, metric, run, at);
  return before === null || after === null ? null : after - before;
}
