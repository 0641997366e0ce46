// The state of the page as the fragment of its address, so that every view is a link.

export const SHOWS = ["all", "wrong", "broken", "fixed", "error", "unsure", "flagged", "sometimes"] as const;
export type Show = (typeof SHOWS)[number];
export type Direction = "up" | "down";

export interface View {
  show: Show;
  group: string | null;
  find: string;
  regex: boolean;
  sort: string | null;
  dir: Direction;
  /** Metrics with a column; none named: those that the page chooses. */
  columns: string[];
  /** The open question: its id and its group. */
  q: string | null;
  g: string | null;
  run: number | null;
  trial: number | null;
}

export const START: View = {
  show: "all",
  group: null,
  find: "",
  regex: false,
  sort: null,
  dir: "up",
  columns: [],
  q: null,
  g: null,
  run: null,
  trial: null,
};

/** Reads a fragment, of which none is where everybody starts; null if it is an anchor of the page. */
export function readAddress(hash: string): View | null {
  if (hash === "" || hash === "#") return START;
  if (hash !== "#/" && !hash.startsWith("#/?")) return null;
  const parts = new URLSearchParams(hash.slice(3));
  const show = SHOWS.find((known) => known === parts.get("show"));
  return {
    show: show ?? "all",
    group: parts.get("group"),
    find: parts.get("find") ?? "",
    regex: parts.get("regex") === "1",
    sort: parts.get("sort"),
    dir: parts.get("dir") === "down" ? "down" : "up",
    columns: parts.getAll("column"),
    q: parts.get("q"),
    g: parts.get("g"),
    run: position(parts.get("run")),
    trial: position(parts.get("trial")),
  };
}

/** Writes a fragment that reads as this view, without parts that say what is so anyway. */
export function writeAddress(view: View): string {
  const parts: [string, string | null][] = [
    ["show", view.show === "all" ? null : view.show],
    ["group", view.group],
    ["find", view.find || null],
    ["regex", view.regex ? "1" : null],
    ["sort", view.sort],
    ["dir", view.dir === "down" ? "down" : null],
    ...view.columns.map((key): [string, string] => ["column", key]),
    ["q", view.q],
    ["g", view.g],
    ["run", view.run === null ? null : String(view.run)],
    ["trial", view.trial === null ? null : String(view.trial)],
  ];
  const said = parts.flatMap(([name, value]) => (value === null ? [] : [`${name}=${encoded(value)}`]));
  return said.length ? `#/?${said.join("&")}` : "#/";
}

/** Encodes a value; half of a surrogate pair, which cannot be encoded, becomes U+FFFD. */
function encoded(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\ufffd"));
}

function position(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
