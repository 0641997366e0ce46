// What a step returned, on its own.

import { useState } from "preact/hooks";
import type { Shown, ShownDocuments, ShownTable } from "../contract";
import { count } from "../format";
import { LongText, Text } from "../text";

/** A text with a word before it. */
export function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div class="labelled">
      <p class="name">{name}</p>
      <LongText value={text} />
    </div>
  );
}

export function Output({ shown }: { shown: Shown }) {
  return (
    <div class="labelled">
      <p class="name">output</p>
      {"text" in shown ? <LongText value={shown.text} more={shown.more} /> : "columns" in shown ? <PlainTable table={shown} /> : <Documents shown={shown} />}
    </div>
  );
}

const STEP = 100;

/** How many of a list are shown, and a button for more. */
export function useGrowing(n: number, start = STEP): [shown: number, button: preact.JSX.Element | null] {
  const [most, setMost] = useState(start);
  const button =
    n > most ? (
      <button type="button" class="more" onClick={() => setMost(most + 5 * STEP)}>
        Show more: {count(n - most, "row is", "rows are")} left
      </button>
    ) : null;
  return [Math.min(n, most), button];
}

function PlainTable({ table }: { table: ShownTable }) {
  const [n, button] = useGrowing(table.rows.length, 20);
  return (
    <>
      <div class="wide" tabIndex={0} role="group" aria-label="Rows of the output">
        <table class="data cells">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th scope="col">
                  <Text value={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, n).map((row) => (
              <tr>
                {row.map((cell) => (
                  <CellOf value={cell} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {button}
      {table.n_rows > table.rows.length && <p class="note">{count(table.rows.length, "row")} kept of {count(table.n_rows, "row")}</p>}
    </>
  );
}

/** A cell; one without a value is not the same as an empty one. */
export function CellOf({ value, class: name = "" }: { value: string | null; class?: string }) {
  return <td class={name}>{value === null ? <span class="none">unbound</span> : <Text value={value} />}</td>;
}

function Documents({ shown }: { shown: ShownDocuments }) {
  const [n, button] = useGrowing(shown.documents.length, 20);
  return (
    <>
      <ol class="documents">
        {shown.documents.slice(0, n).map(({ id, text }) => (
          <li>
            <code>
              <Text value={id} />
            </code>
            {text !== null && <LongText value={text} />}
          </li>
        ))}
      </ol>
      {button}
      {shown.n > shown.documents.length && <p class="note">{count(shown.documents.length, "document")} kept of {count(shown.n, "document")}</p>}
    </>
  );
}
