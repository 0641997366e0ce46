// What a line of the steps unfolds to.

import type { ActualStep, ExpectedStep } from "../contract";
import { Text } from "../text";
import { Differences } from "./differences";
import type { Line } from "./lines";
import { Labelled, Output } from "./output";

/** Why a step counts as it does, then the step from both sides. */
export function StepBody({ line, step, steps }: { line: Line; step: ActualStep | null; steps: ActualStep[] }) {
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
        {expected && hasMore(expected, aligned !== null) && <ExpectedSide step={expected} aligned={aligned !== null} />}
        {against && <ActualSide step={against} aligned={aligned !== null} title={expected ? (step ? "Actual" : "Nearest") : null} />}
      </div>
    </>
  );
}

/** Whether there is anything to say about an expected step beside its alignment. */
function hasMore({ ordered, required, args, output }: ExpectedStep, aligned: boolean): boolean {
  return ordered || required !== null || args !== null || (output !== null && !aligned);
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
