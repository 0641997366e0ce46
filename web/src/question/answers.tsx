// Reference and answers side by side, with the words that differ.

import type { Attempt, Detail, Difference, Index } from "../contract";
import { Text } from "../text";

interface AnswersProps {
  index: Index;
  detail: Detail;
  /** The run whose trial is chosen; the others show their first one. */
  chosen: number;
  trial: number;
}

export function Answers({ index, detail, chosen, trial }: AnswersProps) {
  const reference = detail.reference?.answer ?? null;
  const attempts = detail.runs.map((of, run) => of[run === chosen ? trial : 0]);
  const alone = attempts.length === 1 ? (attempts[0]?.diff ?? null) : null;
  return (
    <section class="answers" aria-label="Answers">
      {detail.reference && (
        <div class="answer">
          <h4>Reference</h4>
          {reference === null ? <p class="none">no reference answer</p> : <p class="prose">{alone ? <Marked diff={alone} ops={[-1]} /> : <Text value={reference} />}</p>}
        </div>
      )}
      {attempts.map((attempt, run) => (
        <Answer attempt={attempt} title={title(index, detail, run, run === chosen ? trial : 0)} ops={alone ? [1] : [-1, 1]} />
      ))}
    </section>
  );
}

function title({ runs }: Index, detail: Detail, run: number, trial: number): string {
  const answer = runs.length > 1 ? `Answer ${runs[run]?.label ?? ""}` : "Answer";
  const attempts = detail.runs[run] ?? [];
  return attempts.length > 1 ? `${answer}, trial ${attempts[trial]?.trial ?? trial + 1}` : answer;
}

function Answer({ attempt, title, ops }: { attempt: Attempt | undefined; title: string; ops: number[] }) {
  return (
    <div class="answer">
      <h4>{title}</h4>
      {attempt ? <AnswerText {...{ attempt, ops }} /> : <p class="none">not in this run</p>}
    </div>
  );
}

function AnswerText({ attempt, ops }: { attempt: Attempt; ops: number[] }) {
  const { error, answer, diff } = attempt;
  return (
    <>
      {attempt.status === "error" && (
        <p class="note bad">
          <b>Error</b> {error !== null && <Text value={error} />}
        </p>
      )}
      {answer !== null && <p class="prose">{diff ? <Marked {...{ diff, ops }} /> : <Text value={answer} />}</p>}
      {answer === null && attempt.status !== "error" && <p class="none">no answer</p>}
    </>
  );
}

/** A text with words that are only here (+) or only in the reference (−); others are left out. */
function Marked({ diff, ops }: { diff: Difference[]; ops: number[] }) {
  return (
    <>
      {diff.map(([op, text]) => {
        if (op === 0) return <Text value={text} />;
        if (!ops.includes(op)) return null;
        return op === 1 ? (
          <ins>
            <Text value={text} />
          </ins>
        ) : (
          <del>
            <Text value={text} />
          </del>
        );
      })}
    </>
  );
}
