// The questions: filters, table and the open question.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { View } from "./address";
import { metricColumns } from "./columns";
import type { Index } from "./contract";
import { Filters } from "./questions/filters";
import { KeyList } from "./questions/key_list";
import { Table } from "./questions/table";
import { useKeys } from "./questions/use_keys";
import { useView, type Navigation } from "./navigation";
import { sorted } from "./order";
import { Panel } from "./question/panel";
import { select } from "./selection";

interface AppProps {
  index: Index;
  navigation: Navigation;
}

export function App({ index, navigation }: AppProps) {
  const view = useView(navigation);
  const { rows, problem } = useRows(index, view);
  const columns = useMemo(() => metricColumns(index, view), [index, view.columns]);
  const open = useMemo(() => openQuestion(index, view), [index, view.q, view.g]);
  const [cursor, setCursor] = useState(open ?? -1);
  const [help, setHelp] = useState(false);
  const find = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (open !== null) setCursor(open);
  }, [open]);
  const move = useKeys({ index, view, rows, open, cursor, setCursor, setHelp, find, go: navigation.go });
  return (
    <>
      <Filters {...{ index, view, columns, problem, find }} n={rows.length} go={navigation.go} onHelp={() => setHelp(true)} />
      <Table {...{ index, view, rows, columns, open, cursor, setCursor }} go={navigation.go} />
      {view.q !== null && <Panel {...{ index, view, rows, open, move }} go={navigation.go} />}
      <KeyList open={help} comparison={index.runs.length > 1} onClose={() => setHelp(false)} />
    </>
  );
}

function useRows(index: Index, view: View) {
  const { show, group, find, regex, sort, dir } = view;
  const selection = useMemo(() => select(index, view), [index, show, group, find, regex]);
  const rows = useMemo(() => sorted(index, selection.rows, view), [index, selection, sort, dir]);
  return { rows, problem: selection.problem };
}

/** The position of the open question; null if none is open or the report has no such question. */
export function openQuestion({ questions, groups }: Index, { q, g }: View): number | null {
  if (q === null) return null;
  const at = questions.id.findIndex((id, at) => id === q && (g === null || groups[questions.group[at]!] === g));
  return at === -1 ? null : at;
}
