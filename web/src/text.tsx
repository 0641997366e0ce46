// Texts of unknown origin. They enter the page as text nodes, here and nowhere else.

import { useState } from "preact/hooks";
import { count } from "./format";
import { pieces } from "./hidden";

/** A text in its own direction, with hidden characters named. */
export function Text({ value }: { value: string }) {
  return (
    <bdi>
      {pieces(value).map(({ text, hidden }) =>
        hidden ? (
          <span class="hidden-char" title="A character that is not visible">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  );
}

/** The key of a metric or a column, which may break after each underscore. */
export function Name({ value }: { value: string }) {
  const words = value.split("_");
  return (
    <bdi>
      {words.map((word, at) => (at === 0 ? <Pieces value={word} /> : [<>_<wbr /></>, <Pieces value={word} />]))}
    </bdi>
  );
}

function Pieces({ value }: { value: string }) {
  return <>{pieces(value).map(({ text, hidden }) => (hidden ? <span class="hidden-char">{text}</span> : text))}</>;
}

const MOST_CHARACTERS = 1500;
const MOST_LINES = 24;

/** Preformatted text; the rest of a long one comes on demand. `more` characters are not in the report. */
export function LongText({ value, more = 0 }: { value: string; more?: number }) {
  const [whole, setWhole] = useState(false);
  const start = whole ? value : beginning(value);
  return (
    <div class="long-text">
      {/* Long lines scroll on small screens, so the keyboard must get there. */}
      <pre tabIndex={0}>
        <Text value={start} />
      </pre>
      {start.length < value.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {count(value.length, "character")}
        </button>
      )}
      {more > 0 && <p class="note">{count(more, "more character")} left out of this report</p>}
    </div>
  );
}

/** The first lines of a text, never half of a surrogate pair at the end. */
export function beginning(value: string): string {
  let end = value.length;
  for (let lines = 0, at = -1; lines < MOST_LINES; lines += 1) {
    at = value.indexOf("\n", at + 1);
    if (at === -1) break;
    if (lines === MOST_LINES - 1) end = at;
  }
  if (end > MOST_CHARACTERS * 1.2) end = MOST_CHARACTERS;
  const last = value.charCodeAt(end - 1);
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}
