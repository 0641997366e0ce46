// Single keys that move through the questions.

export type Action = "next" | "previous" | "nextMarked" | "previousMarked" | "open" | "close" | "find" | "help";

const ACTIONS: Record<string, Action> = {
  j: "next",
  k: "previous",
  n: "nextMarked",
  p: "previousMarked",
  "/": "find",
  "?": "help",
  Enter: "open",
  Escape: "close",
};

const ARROWS: Record<string, Action> = { ArrowDown: "next", ArrowUp: "previous" };

/** What a key means where it was pressed; null if it is not ours. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("dialog") || isField(target)) return null;
  // Elsewhere arrows scroll the page, which readers of a long question need.
  if (target.closest(".grid") && ARROWS[event.key]) return ARROWS[event.key] ?? null;
  const action = ACTIONS[event.key] ?? null;
  // Enter already means something on a link, a button or a summary.
  return action === "open" && target !== document.body ? null : action;
}

function isField(target: Element): boolean {
  if (target instanceof HTMLInputElement) return !["radio", "checkbox", "button"].includes(target.type);
  return target.matches("select, textarea, [contenteditable]");
}

const STORED = "juror.keys";

let on = stored();

/** Whether single keys are switched on: some people's voice control or screen reader types letters. */
export function keysOn(): boolean {
  return on;
}

/** Switches single keys on or off, for the next report as well where the browser lets pages remember. */
export function switchKeys(to: boolean) {
  on = to;
  try {
    localStorage.setItem(STORED, to ? "on" : "off");
  } catch {
    // The choice then lasts as long as the page.
  }
}

function stored(): boolean {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}
