// The table of questions. Only rows near the visible part are in the document.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { View } from "../address";
import type { MetricColumns } from "../columns";
import type { Index } from "../contract";
import type { Go } from "../navigation";
import { count } from "../format";
import { Head } from "./head";
import { Row } from "./row";
import { partOf, ROW, topFor, useScroll } from "./scrolling";

interface TableProps {
  index: Index;
  view: View;
  rows: number[];
  columns: MetricColumns[];
  open: number | null;
  cursor: number;
  setCursor: (at: number) => void;
  go: Go;
}

export function Table({ index, view, rows, columns, open, cursor, setCursor, go }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { top, height } = useScroll(scroller);
  const { first, end } = partOf(rows.length, top, height);
  useFocus(scroller, rows, cursor, open, view.q !== null);
  const n_head = index.runs.length > 1 ? 2 : 1;
  const n_cells = columns.reduce((n, { cells }) => n + cells.length, 0);
  return (
    <>
      <div class={`grid ${view.q === null ? "" : "with-question"}`} ref={scroller} tabIndex={0} role="region" aria-label="Table of questions">
        <table class="questions" aria-rowcount={rows.length + n_head} style={{ minWidth: `${46 + 5.6 * n_cells}rem` }}>
          <caption class="off-screen">Questions and their scores</caption>
          <Columns n_cells={n_cells} />
          <Head {...{ index, view, columns, go }} />
          <Space n={first} />
          <tbody>
            {rows.slice(first, end).map((at, offset) => (
              <Row key={at} {...{ index, view, columns, at, setCursor, go }} number={first + offset + 1 + n_head} current={at === cursor} open={at === open} />
            ))}
          </tbody>
          <Space n={rows.length - end} />
        </table>
        {rows.length === 0 && <p class="empty">No question passes these filters.</p>}
      </div>
      <p class="print-only">Printed are rows that were near the visible part of the table, of {count(rows.length, "row")}.</p>
    </>
  );
}

function Columns({ n_cells }: { n_cells: number }) {
  return (
    <colgroup>
      <col class="c-id" />
      <col class="c-group" />
      <col class="c-text" />
      {Array.from({ length: n_cells }, () => (
        <col class="c-score" />
      ))}
      <col class="c-status" />
    </colgroup>
  );
}

/** Room for rows that are not in the document. */
function Space({ n }: { n: number }) {
  if (n <= 0) return null;
  return (
    <tbody class="space" aria-hidden="true">
      <tr>
        <td style={{ height: `${n * ROW}px` }} />
      </tr>
    </tbody>
  );
}

type Scroller = { current: HTMLDivElement | null };

/**
 * Keeps the current row visible and, unless a question is open, focused: screen readers then read it,
 * and Enter follows its link.
 */
function useFocus(scroller: Scroller, rows: number[], cursor: number, open: number | null, panel: boolean) {
  const place = useMemo(() => rows.indexOf(cursor), [rows, cursor]);
  const wanted = useRef(false);
  const wasOpen = useRef(panel);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const closed = wasOpen.current && !panel;
    wasOpen.current = panel;
    if (place === -1) {
      if (closed) element.focus({ preventScroll: true });
      return;
    }
    const head = element.querySelector("thead")?.offsetHeight ?? 0;
    const to = topFor(place, element.scrollTop, element.clientHeight - head);
    if (to !== null) element.scrollTop = to;
    wanted.current = !panel;
  }, [cursor, open, panel]);
  // After every change, because a row far away is in the document only after the scrolling above.
  useLayoutEffect(() => {
    if (!wanted.current) return;
    const link = scroller.current?.querySelector<HTMLElement>("tr.current a");
    if (!link) return;
    wanted.current = false;
    link.focus({ preventScroll: true });
  });
}
