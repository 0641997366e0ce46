import type { ActualStep } from "../contract";
import { seconds } from "../format";

/** When a step ran, as a bar between the first step and the end of the last. */
export function Lane({ step, end }: { step: ActualStep; end: number }) {
  if (step.at === null) return null;
  const whole = end || 1;
  const x = (100 * step.at) / whole;
  const width = Math.max(0.8, (100 * (step.seconds ?? 0)) / whole);
  return (
    <span class="lane">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" x="0" y="3.5" width="100" height="1" />
        <rect class="bar" x={Math.min(x, 100 - width)} y="1" width={width} height="6" />
      </svg>
      <span class="times">
        at {seconds(step.at)} s{step.seconds !== null && `, ${seconds(step.seconds)} s long`}
      </span>
    </span>
  );
}
