import { memo } from "./memo";
import { writeAddress, type View } from "../address";
import type { MetricCell, MetricColumns } from "../columns";
import { FLAG, STATUS, type Index } from "../contract";
import { difference, score, tendency } from "../format";
import { visible } from "../hidden";
import type { Go } from "../navigation";
import { changeOf, scoreOf } from "../order";
import { Text } from "../text";
import { opening } from "./use_keys";

interface RowProps {
  index: Index;
  view: View;
  columns: MetricColumns[];
  at: number;
  number: number;
  current: boolean;
  open: boolean;
  setCursor: (at: number) => void;
  go: Go;
}

/** One question. The whole row opens it; its id is the link for keyboards and new tabs. */
export const Row = memo(function Row({ index, view, columns, at, number, current, open, setCursor, go }: RowProps) {
  const { id, text, group } = index.questions;
  const click = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target?.closest("a") && !getSelection()?.toString()) go(opening(index, at));
  };
  return (
    <tr class={`${current ? "current" : ""} ${open ? "open" : ""}`} aria-rowindex={number} onClick={click}>
      <th class="c-id" scope="row" title={visible(id[at]!)}>
        <a
          href={writeAddress({ ...view, ...opening(index, at) })}
          aria-current={open ? "true" : undefined}
          onFocus={() => setCursor(at)}
        >
          <Text value={id[at]!} />
        </a>
      </th>
      <td class="c-group">
        <Text value={index.groups[group[at]!] ?? ""} />
      </td>
      <td class="c-text" title={visible(text[at]!)}>
        <Text value={text[at]!} />
      </td>
      {columns.map((of) => of.cells.map((cell) => <Score {...{ index, at, of, cell }} />))}
      <td class="c-status">
        <Flags flags={index.questions.flags[at] ?? 0} />
        <Status index={index} at={at} />
      </td>
    </tr>
  );
});

function Score({ index, at, of, cell }: { index: Index; at: number; of: MetricColumns; cell: MetricCell }) {
  const { unit, better } = of.metric;
  const first = cell === of.cells[0] ? " first" : "";
  if (cell.change) {
    const change = changeOf(index, of.at, cell.run, at);
    return <td class={`n change ${tendency(change, better)}`}>{difference(change, unit)}</td>;
  }
  const value = scoreOf(index, of.at, cell.run, at);
  return <td class={`n${first}${value === null ? " none" : ""}`}>{score(value, unit)}</td>;
}

const STATUS_NAMES = ["answered", "error", "absent"];

/** One word if all runs agree; else a word for each run that did not answer. */
export function Status({ index, at }: { index: Index; at: number }) {
  const states = index.questions.status.map((run) => run[at] ?? STATUS.answered);
  const [first = STATUS.answered] = states;
  if (states.every((state) => state === first)) return <StatusWord state={first} />;
  return (
    <>
      {states.map((state, run) =>
        state === STATUS.answered ? null : <StatusWord state={state} label={index.runs[run]?.label ?? ""} />,
      )}
    </>
  );
}

function StatusWord({ state, label = "" }: { state: number; label?: string }) {
  const name = STATUS_NAMES[state] ?? "";
  return <span class={`status ${name}`}>{label ? `${label}: ${name}` : name}</span>;
}

const FLAG_NAMES: [bit: number, name: string, sign: string, meaning: string][] = [
  [FLAG.broken, "broken", "▼", "right in the first run, wrong in a later one"],
  [FLAG.fixed, "fixed", "▲", "wrong in the first run, right in a later one"],
  [FLAG.unsure, "unsure", "?", "the judge is unsure, or its repeats differ"],
  [FLAG.imitates, "flagged", "!", "a text imitates a verdict"],
  [FLAG.sometimes, "sometimes", "±", "trials of this question disagree"],
];

export function Flags({ flags }: { flags: number }) {
  const set = FLAG_NAMES.filter(([bit]) => (flags & bit) !== 0);
  return (
    <>
      {set.map(([, name, sign, meaning]) => (
        <span class={`tag ${name}`} title={meaning}>
          <span aria-hidden="true">{sign}</span> {name}
        </span>
      ))}
    </>
  );
}
