// Which questions the table lists.

import { SHOWS, type Show, type View } from "./address";
import { FLAG, STATUS, type Index } from "./contract";

/** Returns whether a question belongs to what is shown. */
export function showTest(index: Index, show: Show): (at: number) => boolean {
  const { flags, status } = index.questions;
  const flagged = (bit: number) => (at: number) => ((flags[at] ?? 0) & bit) !== 0;
  switch (show) {
    case "all":
      return () => true;
    case "wrong":
      return wrongTest(index);
    case "error":
      return (at) => status.some((run) => run[at] === STATUS.error);
    case "broken":
      return flagged(FLAG.broken);
    case "fixed":
      return flagged(FLAG.fixed);
    case "unsure":
      return flagged(FLAG.unsure);
    case "flagged":
      return flagged(FLAG.imitates);
    case "sometimes":
      return flagged(FLAG.sometimes);
  }
}

/** Wrong in the last run: an error, or less than a full headline score. */
function wrongTest(index: Index): (at: number) => boolean {
  const last = index.runs.length - 1;
  const status = index.questions.status[last] ?? [];
  const headline = index.metrics.findIndex((metric) => metric.key === index.headline);
  const scores = index.questions.scores[headline]?.[last];
  return (at) => status[at] === STATUS.error || (scores !== undefined && (scores[at] ?? 0) < 1);
}

/** How many questions each choice shows. */
export function showCounts(index: Index): Record<Show, number> {
  const counts = {} as Record<Show, number>;
  for (const show of SHOWS) {
    const test = showTest(index, show);
    counts[show] = index.questions.id.reduce((n, _, at) => (test(at) ? n + 1 : n), 0);
  }
  return counts;
}

export interface Selection {
  rows: number[];
  /** Why the expression could not be used; every question passes then. */
  problem: string | null;
}

/** Positions of the questions that pass all filters, in the order of the report. */
export function select(index: Index, view: View): Selection {
  const shown = showTest(index, view.show);
  const group = view.group === null ? -1 : index.groups.indexOf(view.group);
  const { test: found, problem } = finder(index, view);
  const rows: number[] = [];
  index.questions.group.forEach((of, at) => {
    if ((view.group === null || of === group) && shown(at) && found(at)) rows.push(at);
  });
  return { rows, problem };
}

interface Finder {
  test: (at: number) => boolean;
  problem: string | null;
}

function finder(index: Index, { find, regex }: View): Finder {
  if (find === "") return { test: () => true, problem: null };
  const texts = searchTexts(index);
  if (!regex) {
    const needle = find.toLowerCase();
    return { test: (at) => texts[at]!.lower.includes(needle), problem: null };
  }
  try {
    const expression = new RegExp(find, "imu");
    return { test: (at) => expression.test(texts[at]!.text), problem: null };
  } catch (error) {
    return { test: () => true, problem: error instanceof Error ? error.message : String(error) };
  }
}

interface SearchText {
  text: string;
  lower: string;
}

const known = new WeakMap<Index, SearchText[]>();

/** What the text filter looks at: id, group and text, one on each line. */
function searchTexts(index: Index): SearchText[] {
  let texts = known.get(index);
  if (!texts) {
    const { id, group, text } = index.questions;
    texts = id.map((name, at) => {
      const all = `${name}\n${index.groups[group[at]!] ?? ""}\n${text[at]}`;
      return { text: all, lower: all.toLowerCase() };
    });
    known.set(index, texts);
  }
  return texts;
}
