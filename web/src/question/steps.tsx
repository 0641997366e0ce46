// Expected and actual steps, aligned as the scorer paired them.

import type { ActualStep, Attempt, ExpectedStep, Reference, StepPair } from "../contract";
import { Fold } from "../fold";
import { score, seconds } from "../format";
import { Text } from "../text";
import { Differences } from "./differences";
import { Lane } from "./lane";
import { lastEnd, stepLines, type Line } from "./lines";
import { Labelled, Output } from "./output";

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
    <span class="step-line">
      {state && <State state={state} />}
      {expects && <span class={`step-name ${expected ? "" : "none"}`}>{expected ? <Text value={expected.name} /> : "–"}</span>}
      <span class={`step-name ${step ? "" : "none"}`}>{step ? <ActualName step={step} at={line.actual!} /> : "–"}</span>
      {step?.status === "error" && <span class="status error">error</span>}
      {step?.source && <span class="tag">{step.source}</span>}
      {typeof pair?.similarity === "number" && <span class="similarity">{score(pair.similarity, "fraction")}</span>}
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

function StepBody({ line, step, steps }: { line: Line; step: ActualStep | null; steps: ActualStep[] }) {
  const { pair, expected } = line;
  const near = pair?.nearest ?? null;
  const against = step ?? (near === null ? null : (steps[near] ?? null));
  const aligned = pair?.table ?? pair?.documents ?? null;
  return (
    <>
      {pair?.why && (
        <p class="why">
          <Text value={pair.why} />
        </p>
      )}
      {!step && against && near !== null && (
        <p class="note">
          Compared with step {near + 1}, <Text value={against.name} />, the nearest one.
        </p>
      )}
      {pair && <Differences {...{ pair, expected, actual: against }} />}
      <div class="sides">
        {expected && <ExpectedSide step={expected} aligned={aligned !== null} />}
        {against && <ActualSide step={against} aligned={aligned !== null} title={expected ? (step ? "Actual" : "Nearest") : null} />}
      </div>
    </>
  );
}

function ExpectedSide({ step, aligned }: { step: ExpectedStep; aligned: boolean }) {
  return (
    <div>
      <h5>Expected</h5>
      {step.ordered && <p class="note">The order of rows counts.</p>}
      {step.required && (
        <p class="note">
          Required columns: <Text value={step.required.join(", ")} />
        </p>
      )}
      {step.args !== null && <Labelled name="arguments" text={step.args} />}
      {step.output && !aligned && <Output shown={step.output} />}
    </div>
  );
}

function ActualSide({ step, aligned, title }: { step: ActualStep; aligned: boolean; title: string | null }) {
  const facts = [step.id, step.status, step.source && `reply: ${step.source}`].filter((fact) => fact !== null && fact !== "");
  return (
    <div>
      {title && <h5>{title}</h5>}
      {facts.length > 0 && (
        <p class="note">
          <Text value={facts.join(" · ")} />
        </p>
      )}
      {step.error !== null && (
        <p class="note bad">
          <b>Error</b> <Text value={step.error} />
        </p>
      )}
      {step.args !== null && <Labelled name="arguments" text={step.args} />}
      {step.output && !aligned && <Output shown={step.output} />}
    </div>
  );
}
