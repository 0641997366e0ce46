import { writeAddress, type View } from "../address";
import { FLAG, type Attempt, type Detail, type Index } from "../contract";
import { visible } from "../hidden";
import { LongText, Text } from "../text";
import { Agent } from "./agent";
import { Answers } from "./answers";
import { Scores } from "./scores";
import { Steps } from "./steps";
import { Verdicts } from "./verdicts";

interface BodyProps {
  index: Index;
  view: View;
  at: number;
  detail: Detail;
}

/** The parts of a question. Steps and verdicts are those of one attempt, which tabs choose. */
export function Body({ index, view, at, detail }: BodyProps) {
  const run = chosenRun(view, detail);
  const trial = chosenTrial(view, detail.runs[run] ?? []);
  const attempt = detail.runs[run]?.[trial];
  // Answers and scores of several runs stand side by side; only what follows is of one run.
  const several = index.runs.length > 1;
  const tabs = <Tabs {...{ index, view, detail, run, trial }} />;
  return (
    <>
      <div class="asked">
        <LongText value={detail.text} />
      </div>
      {((index.questions.flags[at] ?? 0) & FLAG.shortened) !== 0 && (
        <p class="note">Some details of this question were shortened to keep the report small.</p>
      )}
      {!several && tabs}
      <Answers {...{ index, detail, trial }} chosen={run} />
      <Scores {...{ index, at, run, attempt }} n_trials={detail.runs[run]?.length ?? 0} />
      {several && tabs}
      {attempt ? (
        <>
          {index.kind === "bench" && <Agent gold={detail.gold} attempt={attempt} />}
          <Steps reference={detail.reference} attempt={attempt} of={runWords(index, run)} />
          <Verdicts index={index} verdicts={attempt.verdicts} of={runWords(index, run)} />
        </>
      ) : (
        <p class="note">This question is not in {runWords(index, run) || "this run"}.</p>
      )}
    </>
  );
}

/** The run that the view names, else the last one that has the question. */
function chosenRun({ run }: View, { runs }: Detail): number {
  if (run !== null && run < runs.length) return run;
  for (let last = runs.length - 1; last > 0; last -= 1) if (runs[last]!.length > 0) return last;
  return 0;
}

function chosenTrial({ trial }: View, attempts: Attempt[]): number {
  return trial !== null && trial < attempts.length ? trial : 0;
}

/** How titles name a run, with hidden characters named; empty in the report of one run. */
function runWords({ runs }: Index, run: number): string {
  const { label = "", name = "" } = runs.length > 1 ? (runs[run] ?? {}) : {};
  return label ? `run ${label}${name ? ` (${visible(name)})` : ""}` : "";
}

interface TabsProps {
  index: Index;
  view: View;
  detail: Detail;
  run: number;
  trial: number;
}

/** Links to the attempts of a question: they are part of the address. */
function Tabs({ index, view, detail, run, trial }: TabsProps) {
  const attempts = detail.runs[run] ?? [];
  return (
    <>
      {index.runs.length > 1 && (
        <nav class="tabs" aria-label="Run">
          {index.runs.map(({ label, name }, at) => (
            <a href={writeAddress({ ...view, run: at, trial: null })} aria-current={at === run ? "true" : undefined}>
              <b>{label}</b> <Text value={name} />
            </a>
          ))}
        </nav>
      )}
      {attempts.length > 1 && (
        <nav class="tabs" aria-label="Trial">
          {attempts.map((attempt, at) => (
            <a href={writeAddress({ ...view, run, trial: at })} aria-current={at === trial ? "true" : undefined}>
              Trial {attempt.trial ?? at + 1}
              {attempt.status === "error" && <span class="status error">error</span>}
            </a>
          ))}
        </nav>
      )}
    </>
  );
}
