// Two tables side by side, in the column and row pairing that the scorer found.

import { useState } from "preact/hooks";
import type { ShownTable, TableAlignment } from "../contract";
import { count, grouped } from "../format";
import { Text } from "../text";
import { useGrowing } from "./output";
import { kindOf, PairedRow, type SideColumn } from "./paired_row";

interface AlignedTableProps {
  alignment: TableAlignment;
  expected: ShownTable | null;
  actual: ShownTable | null;
}

/** With more rows than this, equal ones come on demand. */
const FEW_ROWS = 30;

type Side = "expected" | "actual";

export function AlignedTable({ alignment, expected, actual }: AlignedTableProps) {
  const [equal, setEqual] = useState(alignment.rows.length <= FEW_ROWS);
  const rows = equal ? alignment.rows : alignment.rows.filter((row) => kindOf(row) !== "same");
  const [n, button] = useGrowing(rows.length);
  const left = sideColumns(alignment, "expected");
  const right = sideColumns(alignment, "actual");
  return (
    <div class="aligned">
      <Counts {...{ alignment, equal, setEqual }} />
      <div class="wide" tabIndex={0} role="group" aria-label="Expected and actual rows side by side">
        <table class="data cells">
          <thead>
            <tr>
              <th rowSpan={2} class="sign">
                <span class="off-screen">mark</span>
              </th>
              {left.length > 0 && (
                <th scope="colgroup" colSpan={left.length}>
                  expected
                </th>
              )}
              {right.length > 0 && (
                <th scope="colgroup" class="first" colSpan={right.length}>
                  actual
                </th>
              )}
            </tr>
            <tr>
              <Titles columns={left} table={expected} sign="−" />
              <Titles columns={right} table={actual} sign="+" first />
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, n).map((row) => (
              <PairedRow {...{ row, left, right, expected, actual }} />
            ))}
          </tbody>
        </table>
      </div>
      {button}
    </div>
  );
}

interface CountsProps {
  alignment: TableAlignment;
  equal: boolean;
  setEqual: (shown: boolean) => void;
}

function Counts({ alignment, equal, setEqual }: CountsProps) {
  const { n_same, n_changed, n_missing, n_extra } = alignment;
  const n_rows = n_same + n_changed + n_missing + n_extra;
  return (
    <p class="counts">
      <span>= {grouped(n_same)} equal</span>
      <span class="changed">~ {grouped(n_changed)} changed</span>
      <span class="missing">− {grouped(n_missing)} missing</span>
      <span class="extra">+ {grouped(n_extra)} extra</span>
      {alignment.order_differs && <span>the order differs</span>}
      {n_rows > alignment.rows.length && <span>{count(alignment.rows.length, "row")} of these kept</span>}
      {n_same > 0 && (
        <label class="choice">
          <input type="checkbox" checked={equal} onChange={(event) => setEqual(event.currentTarget.checked)} />
          equal rows
        </label>
      )}
    </p>
  );
}

function sideColumns({ columns }: TableAlignment, side: Side): SideColumn[] {
  return columns.flatMap(([expected, actual], pair) => {
    const at = side === "expected" ? expected : actual;
    return at === null ? [] : [{ pair, at, alone: expected === null || actual === null }];
  });
}

interface TitlesProps {
  columns: SideColumn[];
  table: ShownTable | null;
  sign: string;
  first?: boolean;
}

function Titles({ columns, table, sign, first = false }: TitlesProps) {
  return (
    <>
      {columns.map(({ at, alone }, place) => (
        <th scope="col" class={`${first && place === 0 ? "first" : ""} ${alone ? (sign === "−" ? "missing" : "extra") : ""}`}>
          {alone && <span title="This column has no partner">{sign} </span>}
          <Text value={table?.columns[at] ?? `column ${at + 1}`} />
        </th>
      ))}
    </>
  );
}
