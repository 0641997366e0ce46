import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { View } from "../address";
import type { Index } from "../contract";
import { actionOf, keysOn, type Action } from "../keys";
import type { Go } from "../navigation";
import { showTest } from "../selection";

interface KeyContext {
  index: Index;
  view: View;
  rows: number[];
  open: number | null;
  cursor: number;
  setCursor: (at: number) => void;
  setHelp: (open: boolean) => void;
  find: RefObject<HTMLInputElement | null>;
  go: Go;
}

/** Moves through the list by so many questions, or to the next one of a kind. */
export type Move = (step: 1 | -1, marked?: boolean) => void;

/** Obeys the keys, and returns the move they make, for buttons that do the same. */
export function useKeys(context: KeyContext): Move {
  const { index, view, rows, open, cursor, setCursor, go } = context;
  const move: Move = (step, marked = false) => {
    const test = marked ? showTest(index, index.runs.length > 1 ? "broken" : "wrong") : () => true;
    const to = neighbour(rows, open ?? cursor, step, test);
    if (to === null) return;
    setCursor(to);
    if (view.q !== null) go(opening(index, to), "replace");
  };
  // Not after painting: a second key may come before that, and must find what the first one did.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = actionOf(event);
      if (!action || (!keysOn() && event.key.length === 1)) return;
      if (act(action, context, move)) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return move;
}

/** Does what a key means; false if there was nothing to do. */
function act(action: Action, { index, view, rows, cursor, setHelp, find, go }: KeyContext, move: Move): boolean {
  switch (action) {
    case "next":
    case "nextMarked":
      move(1, action === "nextMarked");
      return true;
    case "previous":
    case "previousMarked":
      move(-1, action === "previousMarked");
      return true;
    case "open":
      if (view.q !== null || !rows.includes(cursor)) return false;
      go(opening(index, cursor));
      return true;
    case "close":
      if (view.q === null) return false;
      go(CLOSED);
      return true;
    case "find":
      find.current?.focus();
      find.current?.select();
      return true;
    case "help":
      setHelp(true);
      return true;
  }
}

/** The next row of a kind in a direction; null at the end of the list. */
export function neighbour(rows: number[], from: number, step: 1 | -1, test: (at: number) => boolean): number | null {
  const start = rows.indexOf(from);
  if (start === -1) return (step === 1 ? rows : [...rows].reverse()).find(test) ?? null;
  for (let at = start + step; at >= 0 && at < rows.length; at += step) {
    if (test(rows[at]!)) return rows[at]!;
  }
  return null;
}

/** The change of the view that opens a question. */
export function opening({ questions, groups }: Index, at: number): Partial<View> {
  return { q: questions.id[at] ?? null, g: groups[questions.group[at] ?? -1] ?? null, trial: null };
}

/** The change of the view that closes the open question. */
export const CLOSED: Partial<View> = { q: null, g: null, run: null, trial: null };
