// How an expected step and an actual one differ, as the scorer aligned them.

import type { ActualStep, ArgumentDifference, DocumentAlignment, ExpectedStep, Shown, StepPair } from "../contract";
import { Fold } from "../fold";
import { LongText, Text } from "../text";
import { AlignedTable } from "./aligned_table";
import { useGrowing } from "./output";

interface DifferencesProps {
  pair: StepPair;
  expected: ExpectedStep | null;
  actual: ActualStep | null;
}

export function Differences({ pair, expected, actual }: DifferencesProps) {
  return (
    <>
      {pair.args && pair.args.length > 0 && <Arguments args={pair.args} />}
      {pair.table && <AlignedTable alignment={pair.table} expected={tableOf(expected?.output)} actual={tableOf(actual?.output)} />}
      {pair.documents && <RankedDocuments alignment={pair.documents} output={actual?.output ?? null} />}
    </>
  );
}

function tableOf(shown: Shown | null | undefined) {
  return shown && "columns" in shown ? shown : null;
}

function Arguments({ args }: { args: ArgumentDifference[] }) {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Arguments that differ">
      <table class="data arguments">
        <caption>Arguments that differ</caption>
        <thead>
          <tr>
            <th scope="col">argument</th>
            <th scope="col">− expected</th>
            <th scope="col">+ actual</th>
          </tr>
        </thead>
        <tbody>
          {args.map(([name, expected, actual]) => (
            <tr>
              <th scope="row">
                <Text value={name} />
              </th>
              <Argument value={expected} class="missing" />
              <Argument value={actual} class="extra" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Argument({ value, class: name }: { value: string | null; class: string }) {
  return <td class={value === null ? "" : name}>{value === null ? <span class="none">not given</span> : <Text value={value} />}</td>;
}

/** Retrieved documents in the order of their ranks, then expected ones that were not retrieved. */
function RankedDocuments({ alignment, output }: { alignment: DocumentAlignment; output: Shown | null }) {
  const texts = new Map(output && "documents" in output ? output.documents.map(({ id, text }) => [id, text]) : []);
  const [n, button] = useGrowing(alignment.rows.length, 50);
  return (
    <>
      <div class="wide" tabIndex={0} role="group" aria-label="Retrieved documents">
        <table class="data ranked">
          <caption>
            Retrieved documents by rank{alignment.k !== null && `; the first ${alignment.k} count`}
          </caption>
          <thead>
            <tr>
              <th scope="col" class="n">
                rank
              </th>
              <th scope="col">expected</th>
              <th scope="col">document</th>
            </tr>
          </thead>
          <tbody>
            {alignment.rows.slice(0, n).map(({ id, expected, rank }) => (
              <tr class={documentClass(expected, rank, alignment.k)}>
                <td class="n">{rank ?? "–"}</td>
                <td>{expected ? (rank === null ? "− not retrieved" : "✓ expected") : ""}</td>
                <td>
                  <DocumentCell id={id} text={texts.get(id) ?? null} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {button}
    </>
  );
}

function documentClass(expected: boolean, rank: number | null, k: number | null): string {
  const mark = expected ? (rank === null ? "missing" : "right") : "";
  return k !== null && rank === k ? `${mark} last-counted` : mark;
}

function DocumentCell({ id, text }: { id: string; text: string | null }) {
  const name = (
    <code>
      <Text value={id} />
    </code>
  );
  return text === null ? name : <Fold summary={name}>{() => <LongText value={text} />}</Fold>;
}
