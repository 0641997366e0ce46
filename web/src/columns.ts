// Which metrics have columns in the table of questions.

import type { View } from "./address";
import type { Index, Metric } from "./contract";

/** A metric with a column for every run and, in comparisons, for every difference to run 0. */
export interface MetricColumns {
  at: number;
  metric: Metric;
  cells: MetricCell[];
}

export interface MetricCell {
  /** What the table is sorted by when this column is. */
  sort: string;
  run: number;
  change: boolean;
  title: string;
}

/** Columns of numbers that fit beside the text on an ordinary screen. */
const FITTING = 6;

/** The metrics that have a column: those that the view names, else as many as fit. Headline first. */
export function metricColumns(index: Index, view: View): MetricColumns[] {
  const chosen = view.columns.length ? named(index, view.columns) : fitting(index);
  return headlineFirst(index, chosen).map((at) => {
    const metric = index.metrics[at]!;
    return { at, metric, cells: metricCells(index, metric) };
  });
}

function named(index: Index, keys: string[]): number[] {
  return positions(index).filter((at) => keys.includes(index.metrics[at]!.key));
}

function fitting(index: Index): number[] {
  const n_cells = 2 * index.runs.length - 1;
  const n = Math.max(1, Math.floor(FITTING / n_cells));
  const scored = positions(index).filter((at) => hasScores(index, at));
  // What judging cost is seldom looked for.
  const price = (at: number) => Number(index.metrics[at]?.unit === "usd");
  const ranked = [...scored].sort((a, b) => price(a) - price(b));
  return headlineFirst(index, ranked).slice(0, n);
}

function positions(index: Index): number[] {
  return index.metrics.map((_, at) => at);
}

function hasScores(index: Index, at: number): boolean {
  return (index.questions.scores[at] ?? []).some((run) => run.some((score) => score !== null));
}

function headlineFirst(index: Index, metrics: number[]): number[] {
  const isHeadline = (at: number) => index.metrics[at]?.key === index.headline;
  return [...metrics.filter(isHeadline), ...metrics.filter((at) => !isHeadline(at))];
}

function metricCells(index: Index, { key }: Metric): MetricCell[] {
  if (index.runs.length === 1) return [{ sort: key, run: 0, change: false, title: key }];
  const scores = index.runs.map(({ label }, run) => ({ sort: `${key}@${run}`, run, change: false, title: label }));
  const base = index.runs[0]?.label ?? "";
  const changes = index.runs
    .map(({ label }, run) => ({ sort: `${key}~${run}`, run, change: true, title: `${label}\u2212${base}` }))
    .slice(1);
  return [...scores, ...changes];
}
