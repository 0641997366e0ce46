import type { Attempt, Index, Metric } from "../contract";
import { difference, score, tendency, unitSign } from "../format";
import { changeOf, scoreOf } from "../order";
import { Name } from "../text";

interface ScoresProps {
  index: Index;
  at: number;
  run: number;
  attempt: Attempt | undefined;
  n_trials: number;
}

/** The question's scores in every run; with several trials also those of the chosen one. */
export function Scores({ index, at, run, attempt, n_trials }: ScoresProps) {
  const { runs } = index;
  const ofTrial = n_trials > 1 ? attempt : undefined;
  const metrics = index.metrics.map((metric, of) => ({ metric, of }));
  const scored = metrics.filter(({ metric, of }) => hasScore(index, of, at) || typeof attempt?.scores[metric.key] === "number");
  const others = otherScores(index, attempt);
  if (scored.length + others.length === 0) return null;
  return (
    <section class="part" aria-labelledby="scores-title">
      <h4 id="scores-title">Scores</h4>
      <div class="wide" tabIndex={0} role="group" aria-labelledby="scores-title">
        <table class="data scores">
          <thead>
            <tr>
              <th scope="col">metric</th>
              {runs.map(({ label }) => (
                <th class="n" scope="col">
                  {label || "score"}
                </th>
              ))}
              {runs.slice(1).map(({ label }) => (
                <th class="n" scope="col">
                  {label}−{runs[0]?.label}
                </th>
              ))}
              {ofTrial && (
                <th class="n" scope="col">
                  this trial{runs.length > 1 ? ` of ${runs[run]?.label ?? ""}` : ""}
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {scored.map(({ metric, of }) => (
              <tr>
                <MetricName metric={metric} headline={metric.key === index.headline} />
                {runs.map((_, run) => (
                  <td class="n">{score(scoreOf(index, of, run, at), metric.unit)}</td>
                ))}
                {runs.slice(1).map((_, later) => (
                  <Change value={changeOf(index, of, later + 1, at)} metric={metric} />
                ))}
                {ofTrial && <td class="n">{score(ofTrial.scores[metric.key], metric.unit)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ofTrial && <p class="note">Scores of a run are means over its trials.</p>}
      {others.length > 0 && (
        <dl class="numbers">
          {others.map(([key, value]) => (
            <div>
              <dt>
                <Name value={key} />
              </dt>
              <dd>{score(value, null)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function hasScore(index: Index, of: number, at: number): boolean {
  return index.runs.some((_, run) => scoreOf(index, of, run, at) !== null);
}

/** Scores of the attempt that have no column in the report. */
function otherScores(index: Index, attempt: Attempt | undefined): [string, number | null][] {
  return Object.entries(attempt?.scores ?? {}).filter(([key]) => !index.metrics.some((metric) => metric.key === key));
}

function MetricName({ metric, headline }: { metric: Metric; headline: boolean }) {
  const sign = unitSign(metric.unit);
  return (
    <th scope="row">
      <Name value={metric.key} /> {sign && <span class="unit">{sign}</span>}
      {headline && <span class="tag">headline</span>}
    </th>
  );
}

function Change({ value, metric }: { value: number | null; metric: Metric }) {
  return <td class={`n change ${tendency(value, metric.better)}`}>{difference(value, metric.unit)}</td>;
}
