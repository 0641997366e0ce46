// What judges said, and how they were asked.

import type { Index, Verdict } from "../contract";
import { score, usd } from "../format";
import { visible } from "../hidden";
import { Name, Text } from "../text";
import { Calls } from "./calls";
import { ClaimList } from "./claims";

export function Verdicts({ index, verdicts, of }: { index: Index; verdicts: Verdict[]; of: string }) {
  if (verdicts.length === 0) return null;
  return (
    <section class="part" aria-labelledby="verdicts-title">
      <h4 id="verdicts-title">Verdicts {of && <small>{of}</small>}</h4>
      <div class="verdicts">
        {verdicts.map((verdict) => (
          <OneVerdict index={index} verdict={verdict} />
        ))}
      </div>
    </section>
  );
}

function OneVerdict({ index, verdict }: { index: Index; verdict: Verdict }) {
  const { metric, step, error, reason, claims, flags } = verdict;
  return (
    <article class="verdict">
      <header>
        <h5>
          <Name value={metric} /> {step !== null && <small>step {step + 1}</small>}
        </h5>
        {flags.map((flag) => (
          <span class="tag flagged">
            <span aria-hidden="true">!</span> <Text value={flag} />
          </span>
        ))}
        <By verdict={verdict} />
      </header>
      <Numbers index={index} verdict={verdict} />
      {error !== null && (
        <p class="note bad">
          <b>Error</b> <Text value={error} />
        </p>
      )}
      {reason !== null && (
        <p class="reason">
          <Text value={reason} />
        </p>
      )}
      {claims && <ClaimList claims={claims} repeats={Math.max(1, ...verdict.repeats.map(([, values]) => values.length))} />}
      <Calls verdict={verdict} />
    </article>
  );
}

function By({ verdict: { by, usd: price } }: { verdict: Verdict }) {
  if (by === null && price === null) return null;
  return (
    <span class="by">
      {by !== null && <Text value={by} />}
      {by !== null && price !== null && " · "}
      {price !== null && `US$ ${usd(price)}`}
    </span>
  );
}

/** Numbers of a verdict; those that are metrics of the report in their unit. */
function Numbers({ index, verdict: { numbers, repeats } }: { index: Index; verdict: Verdict }) {
  const unitOf = (name: string) => index.metrics.find(({ key }) => key === name)?.unit ?? null;
  if (numbers.length + repeats.length === 0) return null;
  // Means are of all repeats; what has no value for each of them is of the repeat that is shown.
  const ofOne = (name: string) => repeats.length > 0 && !repeats.some(([key]) => key === name);
  return (
    <dl class="numbers">
      {numbers.map(([name, value]) => (
        <div>
          <dt>
            <Name value={name} />
            {ofOne(name) && ", in the repeat with the median f1"}
          </dt>
          <dd>{typeof value === "string" ? <Text value={value} /> : score(value, unitOf(name))}</dd>
        </div>
      ))}
      {repeats.map(([name, values]) => (
        <div>
          <dt>
            <Name value={name} />, each time
          </dt>
          <dd>{values.map((value) => (typeof value === "string" ? visible(value) : score(value, unitOf(name)))).join("  ")}</dd>
        </div>
      ))}
    </dl>
  );
}
