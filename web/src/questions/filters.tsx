// The bar above the table.

import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { SHOWS, type Show, type View } from "../address";
import type { MetricColumns } from "../columns";
import type { Index } from "../contract";
import { count, grouped } from "../format";
import { visible } from "../hidden";
import type { Go } from "../navigation";
import { showCounts } from "../selection";
import { ColumnChoice } from "./column_choice";

interface FiltersProps {
  index: Index;
  view: View;
  columns: MetricColumns[];
  problem: string | null;
  find: RefObject<HTMLInputElement | null>;
  n: number;
  go: Go;
  onHelp: () => void;
}

export function Filters({ index, view, columns, problem, find, n, go, onHelp }: FiltersProps) {
  return (
    <form class="filters" role="search" aria-label="Questions" onSubmit={(event) => event.preventDefault()}>
      <ShowChoice {...{ index, view, go }} />
      <div class="filter-row">
        <GroupChoice {...{ index, view, go }} />
        <TextFilter {...{ view, problem, find, go }} />
        {index.metrics.length > 1 && <ColumnChoice {...{ index, columns, go }} />}
        <button type="button" onClick={onHelp} aria-haspopup="dialog">
          Keys <kbd>?</kbd>
        </button>
        <p class="shown" role="status">
          {grouped(n)} of {count(index.questions.id.length, "question")}
        </p>
      </div>
    </form>
  );
}

const SHOW_NAMES: Record<Show, string> = {
  all: "All",
  wrong: "Wrong",
  broken: "Broken",
  fixed: "Fixed",
  error: "Error",
  unsure: "Judge unsure",
  flagged: "Flagged",
  sometimes: "Solved sometimes",
};

const SHOW_MEANINGS: Record<Show, string> = {
  all: "Every question",
  wrong: "Below a full headline score in the last run, or an error",
  broken: "Right in the first run, wrong in a later one",
  fixed: "Wrong in the first run, right in a later one",
  error: "Ended in an error in some run",
  unsure: "The judge is unsure, or its repeats differ",
  flagged: "A text imitates a verdict",
  sometimes: "Trials of the same question disagree",
};

type Part = Pick<FiltersProps, "index" | "view" | "go">;

function ShowChoice({ index, view, go }: Part) {
  const counts = useMemo(() => showCounts(index), [index]);
  const shows = SHOWS.filter((show) => show === "all" || show === view.show || counts[show] > 0);
  return (
    <fieldset class="shows">
      <legend class="off-screen">Show</legend>
      {shows.map((show) => (
        <label title={SHOW_MEANINGS[show]}>
          <input type="radio" name="show" checked={view.show === show} onChange={() => go({ show })} />
          <span>
            {SHOW_NAMES[show]} <b>{grouped(counts[show])}</b>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function GroupChoice({ index, view, go }: Part) {
  const word = index.kind === "eval" ? "template" : "set";
  const unknown = view.group !== null && !index.groups.includes(view.group);
  // Positions stand for groups, because a group may have no name.
  const value = view.group === null ? "all" : String(index.groups.indexOf(view.group));
  const choose = (to: string) => go({ group: to === "all" ? null : (index.groups[Number(to)] ?? null) });
  return (
    <label class="field">
      <span class="off-screen">{word}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="all">all {word}s</option>
        {unknown && <option value="-1">{visible(view.group ?? "")} (unknown)</option>}
        {index.groups.map((group, at) => (
          <option value={at}>{visible(group)}</option>
        ))}
      </select>
    </label>
  );
}

function TextFilter({ view, problem, find, go }: Pick<FiltersProps, "view" | "problem" | "find" | "go">) {
  return (
    <div class="field find">
      <input
        ref={find}
        type="search"
        placeholder="Find in id, text, group"
        aria-label="Find in id, text and group"
        aria-invalid={problem !== null}
        aria-describedby="find-problem"
        value={view.find}
        onInput={(event) => go({ find: event.currentTarget.value }, "replace")}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <label class="choice">
        <input type="checkbox" checked={view.regex} onChange={(event) => go({ regex: event.currentTarget.checked }, "replace")} />
        regex
      </label>
      <span id="find-problem" class="problem" role="status">
        {problem !== null && `Not used: ${visible(problem)}`}
      </span>
    </div>
  );
}
