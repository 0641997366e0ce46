// Characters that hide, reverse or steer text. Models and agents wrote most texts of a report, so
// none of these may work there; each is shown as its number instead.

const HIDDEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}\p{Surrogate}]/u;

const RUNS = new RegExp(`((${HIDDEN.source})\\2*)`, "gu");

export interface Piece {
  text: string;
  hidden: boolean;
}

/** Cuts a text at hidden characters; equal ones that follow each other are one piece. */
export function pieces(text: string): Piece[] {
  if (!HIDDEN.test(text)) return [{ text, hidden: false }];
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(RUNS)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), hidden: false });
    found.push({ text: named(match[0]), hidden: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), hidden: false });
  return found;
}

/** The text with hidden characters named, for places that take no elements. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (piece.hidden ? `[${piece.text}]` : piece.text))
    .join("");
}

function named(run: string): string {
  const [first = ""] = run;
  const name = `U+${(first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const n = run.length / first.length;
  return n > 1 ? `${name}×${n}` : name;
}
