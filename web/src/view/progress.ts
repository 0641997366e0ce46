// Live progress of runs that are not finished.

/** How far a run came, as the server tells it. */
export interface Progress {
  id: string;
  state: string;
  done: number;
  all: number | null;
}

/** What the server tells: all runs that are not finished, and a number that changes with the list. */
export interface Told {
  list: string;
  runs: Progress[];
}

/** "3 of 10", or "3" if nobody knows of how many. */
export function progressText({ done, all }: Progress): string {
  return all === null ? `${done}` : `${Math.min(done, all)} of ${all}`;
}

/** Shows progress as it is told. */
export function watch(list: HTMLElement): void {
  const events = new EventSource("/events");
  events.addEventListener("message", (event) => {
    const told = JSON.parse(event.data) as Told;
    for (const run of told.runs) show(list, run);
    const isOther = told.list !== list.dataset["live"];
    const note = document.getElementById("changed");
    // A choice that somebody is making is not thrown away: the page says that it is out of date.
    if (isOther && list.querySelector("input:checked") && note) note.hidden = false;
    else if (isOther) {
      events.close();
      location.reload();
    }
  });
}

function show(list: HTMLElement, run: Progress): void {
  for (const row of list.querySelectorAll<HTMLElement>("[data-run]")) {
    if (row.dataset["run"] !== run.id) continue;
    const progress = row.querySelector<HTMLProgressElement>("progress");
    const text = row.querySelector(".done");
    const state = row.querySelector(".state");
    if (progress && run.all !== null) {
      progress.max = Math.max(run.all, 1);
      progress.value = run.done;
    }
    if (text) text.textContent = progressText(run);
    if (state) state.textContent = run.state;
  }
}
