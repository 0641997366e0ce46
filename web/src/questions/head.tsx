import type { View } from "../address";
import type { MetricCell, MetricColumns } from "../columns";
import type { Index } from "../contract";
import { unitSign } from "../format";
import type { Go } from "../navigation";
import { Name } from "../text";

interface HeadProps {
  index: Index;
  view: View;
  columns: MetricColumns[];
  go: Go;
}

/** The titles; in comparisons those of runs stand below those of metrics. */
export function Head({ index, view, columns, go }: HeadProps) {
  const two = index.runs.length > 1;
  const plain = (sort: string, title: string) => (
    <Title {...{ view, go, sort, title }} class={`c-${sort}`} rows={two ? 2 : 1}>
      {title}
    </Title>
  );
  return (
    <thead>
      <tr aria-rowindex={1}>
        {plain("id", "id")}
        {plain("group", index.kind === "eval" ? "template" : "set")}
        {plain("text", "question")}
        {columns.map((of) => (two ? <MetricTitle {...of} /> : <Cell {...{ view, go, of }} cell={of.cells[0]!} />))}
        {plain("status", "status")}
      </tr>
      {two && <tr aria-rowindex={2}>{columns.map((of) => of.cells.map((cell) => <Cell {...{ view, go, of, cell }} />))}</tr>}
    </thead>
  );
}

function MetricTitle({ metric, cells }: MetricColumns) {
  return (
    <th class="metric n first" scope="colgroup" colSpan={cells.length}>
      <Name value={metric.key} /> <UnitSign unit={metric.unit} />
    </th>
  );
}

function UnitSign({ unit }: { unit: Parameters<typeof unitSign>[0] }) {
  const sign = unitSign(unit);
  return sign ? <span class="unit">{sign}</span> : null;
}

interface CellProps {
  view: View;
  go: Go;
  of: MetricColumns;
  cell: MetricCell;
}

function Cell({ view, go, of, cell }: CellProps) {
  const first = cell === of.cells[0] ? " first" : "";
  const alone = of.cells.length === 1;
  return (
    <Title {...{ view, go }} sort={cell.sort} title={alone ? cell.title : `${of.metric.key} ${cell.title}`} class={`n${first}`}>
      <Name value={cell.title} />
      {alone && <UnitSign unit={of.metric.unit} />}
    </Title>
  );
}

interface TitleProps {
  view: View;
  go: Go;
  sort: string;
  title: string;
  class: string;
  rows?: number;
  children: preact.ComponentChildren;
}

function Title({ view, go, sort, title, class: name, rows = 1, children }: TitleProps) {
  const active = view.sort === sort;
  const next = !active ? { sort, dir: "up" as const } : view.dir === "up" ? { dir: "down" as const } : { sort: null, dir: "up" as const };
  const order = view.dir === "up" ? "ascending" : "descending";
  return (
    <th class={name} scope="col" rowSpan={rows} {...(active ? { "aria-sort": order } : {})}>
      <button type="button" onClick={() => go(next)} title={`Sort by ${title}`}>
        <span>{children}</span>
        <span class="arrow" aria-hidden="true">
          {active ? (view.dir === "up" ? "▲" : "▼") : ""}
        </span>
      </button>
    </th>
  );
}
