// Two tables side by side, in the column and row pairing that the scorer found.

import { useState } from "preact/hooks";
import type { AlignedRow, ShownTable, TableAlignment } from "../contract";
import { count, grouped } from "../format";
import { Text } from "../text";
import { CellOf, useGrowing } from "./output";

interface AlignedTableProps {
  alignment: TableAlignment;
  expected: ShownTable | null;
  actual: ShownTable | null;
}

/** With more rows than this, equal ones come on demand. */
const FEW_ROWS = 30;

type Side = "expected" | "actual";

/** A column of one side: its position in the pairing and in its own table. */
interface SideColumn {
  pair: number;
  at: number;
  alone: boolean;
}

export function AlignedTable({ alignment, expected, actual }: AlignedTableProps) {
  const [equal, setEqual] = useState(alignment.rows.length <= FEW_ROWS);
  const rows = equal ? alignment.rows : alignment.rows.filter((row) => kindOf(row) !== "same");
  const [n, button] = useGrowing(rows.length);
  const left = sideColumns(alignment, "expected");
  const right = sideColumns(alignment, "actual");
  return (
    <div class="aligned">
      <Counts {...{ alignment, equal, setEqual }} />
      <div class="wide" tabIndex={0} role="region" aria-label="Expected and actual rows side by side">
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

type Kind = "same" | "changed" | "missing" | "extra";

const SIGNS: Record<Kind, string> = { same: "=", changed: "~", missing: "−", extra: "+" };

export function kindOf([expected, actual, differing]: AlignedRow): Kind {
  if (actual === null) return "missing";
  if (expected === null) return "extra";
  return differing ? "changed" : "same";
}

interface PairedRowProps {
  row: AlignedRow;
  left: SideColumn[];
  right: SideColumn[];
  expected: ShownTable | null;
  actual: ShownTable | null;
}

function PairedRow({ row, left, right, expected, actual }: PairedRowProps) {
  const kind = kindOf(row);
  return (
    <tr class={kind}>
      <th scope="row" class="sign" title={kind}>
        {SIGNS[kind]}
        <span class="off-screen"> {kind}</span>
      </th>
      <SideCells columns={left} table={expected} at={row[0]} differing={row[2] ?? []} />
      <SideCells columns={right} table={actual} at={row[1]} differing={row[2] ?? []} first />
    </tr>
  );
}

interface SideCellsProps {
  columns: SideColumn[];
  table: ShownTable | null;
  at: number | null;
  differing: number[];
  first?: boolean;
}

function SideCells({ columns, table, at, differing, first = false }: SideCellsProps) {
  if (columns.length === 0) return null;
  const edge = first ? "first" : "";
  if (at === null) return <td class={`${edge} gap`} colSpan={columns.length} />;
  const row = table?.rows[at];
  if (!row) {
    return (
      <td class={`${edge} gap none`} colSpan={columns.length}>
        row {grouped(at + 1)} is not kept with this report
      </td>
    );
  }
  return (
    <>
      {columns.map((column, place) => (
        <CellOf value={row[column.at] ?? null} class={`${place === 0 ? edge : ""} ${differing.includes(column.pair) ? "differs" : ""}`} />
      ))}
    </>
  );
}
