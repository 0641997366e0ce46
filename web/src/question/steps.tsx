// Expected and actual steps, aligned as the scorer paired them.

import type { ActualStep, Attempt, Reference, StepPair } from "../contract";
import { Fold } from "../fold";
import { score, seconds } from "../format";
import { Text } from "../text";
import { Lane } from "./lane";
import { lastEnd, stepLines, type Line } from "./lines";
import { StepBody } from "./step_body";

interface StepsProps {
  reference: Reference | null;
  attempt: Attempt;
  of: string;
}

export function Steps({ reference, attempt, of }: StepsProps) {
  const lines = stepLines(reference, attempt);
  if (lines.length === 0) return null;
  const end = lastEnd(attempt.steps);
  const expects = lines.some(({ expected }) => expected !== null);
  return (
    <section class="part" aria-labelledby="steps-title">
      <h4 id="steps-title">
        {expects ? "Expected and actual steps" : "Steps"} {of && <small>{of}</small>}
      </h4>
      {expects && attempt.pairs.length === 0 && <p class="note">Steps were not scored: expected ones come first, then actual ones.</p>}
      {end !== null && <p class="note">Bars show when each step ran, in {seconds(end)} s from the first step to the end of the last.</p>}
      <ol class="steps">
        {lines.map((line) => (
          <li>
            <StepLine {...{ line, end, expects }} steps={attempt.steps} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const SIGNS: Record<StepPair["state"] | "extra", [sign: string, word: string]> = {
  found: ["✓", "found"],
  partly: ["≈", "partly"],
  missed: ["−", "missed"],
  not_scored: ["·", "not scored"],
  extra: ["+", "extra"],
};

interface StepLineProps {
  line: Line;
  steps: ActualStep[];
  end: number | null;
  expects: boolean;
}

function StepLine({ line, steps, end, expects }: StepLineProps) {
  const { pair, expected } = line;
  const step = line.actual === null ? null : (steps[line.actual] ?? null);
  const state = pair?.state ?? (expected || !expects ? null : "extra");
  const summary = (
    <span class={`step-line ${expects ? "" : "unpaired"}`}>
      {expects && (state ? <State state={state} /> : <span />)}
      {expects && <span class={`step-name ${expected ? "" : "none"}`}>{expected ? <Text value={expected.name} /> : "–"}</span>}
      <span class={`step-name ${step ? "" : "none"}`}>{step ? <ActualName step={step} at={line.actual!} /> : "–"}</span>
      <span class="step-facts">
        {typeof pair?.similarity === "number" && <span class="similarity">{score(pair.similarity, "fraction")}</span>}
        {step?.source && (
          <span class="tag">
            <Text value={step.source} />
          </span>
        )}
        {step?.status === "error" && <span class="status error">error</span>}
      </span>
      {step && end !== null && <Lane step={step} end={end} />}
    </span>
  );
  const open = state === "partly" || state === "missed";
  return (
    <Fold summary={summary} open={open} class={state ?? ""}>
      {() => <StepBody {...{ line, step, steps }} />}
    </Fold>
  );
}

function State({ state }: { state: StepPair["state"] | "extra" }) {
  const [sign, word] = SIGNS[state];
  return (
    <span class={`state ${state}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {word}
    </span>
  );
}

function ActualName({ step, at }: { step: ActualStep; at: number }) {
  return (
    <>
      <span class="number">{at + 1}</span> <Text value={step.name} />
    </>
  );
}
