import type { AlignedRow, ShownTable } from "../contract";
import { grouped } from "../format";
import { CellOf } from "./output";

/** A column of one side: its position in the pairing and in its own table. */
export interface SideColumn {
  pair: number;
  at: number;
  /** It has no partner on the other side. */
  alone: boolean;
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

/** A row of both tables: a sign, the expected cells, the actual cells. */
export function PairedRow({ row, left, right, expected, actual }: PairedRowProps) {
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
