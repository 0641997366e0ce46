// The order in which expected and actual steps are shown.

import type { ActualStep, Attempt, ExpectedStep, Reference, StepPair } from "../contract";

/** An expected step, with its partner if it has one, or an actual step that has none. */
export interface Line {
  pair: StepPair | null;
  expected: ExpectedStep | null;
  /** Position of the actual step on this line. */
  actual: number | null;
}

/** Expected steps in the scorer's order; actual steps without a partner stand where they happened. */
export function stepLines(reference: Reference | null, { steps, pairs }: Attempt): Line[] {
  const paired = new Set(pairs.map(({ actual }) => actual));
  const alone = steps.map((_, at) => at).filter((at) => !paired.has(at));
  const lines: Line[] = [];
  const takeBefore = (end: number) => {
    while (alone.length > 0 && alone[0]! < end) lines.push({ pair: null, expected: null, actual: alone.shift()! });
  };
  if (pairs.length === 0) unscored(reference).forEach((line) => lines.push(line));
  for (const pair of pairs) {
    if (pair.actual !== null) takeBefore(pair.actual);
    const expected = reference?.groups[pair.group]?.[pair.expected] ?? null;
    lines.push({ pair, expected, actual: pair.actual });
  }
  takeBefore(steps.length);
  return lines;
}

function unscored(reference: Reference | null): Line[] {
  return (reference?.groups ?? []).flat().map((expected) => ({ pair: null, expected, actual: null }));
}

/** When the last step that tells its time ended, in seconds; null if none does. */
export function lastEnd(steps: ActualStep[]): number | null {
  const ends = steps.flatMap(({ at, seconds }) => (at === null ? [] : [at + (seconds ?? 0)]));
  return ends.length > 0 ? Math.max(...ends) : null;
}
