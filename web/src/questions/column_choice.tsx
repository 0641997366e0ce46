import { useLayoutEffect, useRef } from "preact/hooks";
import type { MetricColumns } from "../columns";
import type { Index } from "../contract";
import type { Go } from "../navigation";
import { Name } from "../text";

interface ColumnChoiceProps {
  index: Index;
  columns: MetricColumns[];
  go: Go;
}

/** Which metrics have columns. At least one has. */
export function ColumnChoice({ index, columns, go }: ColumnChoiceProps) {
  const place = useRef<HTMLDetailsElement>(null);
  useClosing(place);
  const shown = columns.map(({ metric }) => metric.key);
  const change = (key: string, on: boolean) => {
    const keys = on ? [...shown, key] : shown.filter((other) => other !== key);
    go({ columns: keys }, "replace");
  };
  return (
    <details class="column-choice" ref={place}>
      <summary>
        Columns <b>{shown.length}</b>/{index.metrics.length}
      </summary>
      <fieldset>
        <legend class="off-screen">Metrics with a column</legend>
        {index.metrics.map(({ key }) => (
          <label class="choice">
            <input
              type="checkbox"
              checked={shown.includes(key)}
              disabled={shown.length === 1 && shown[0] === key}
              onChange={(event) => change(key, event.currentTarget.checked)}
            />
            <Name value={key} />
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** Closes the list as menus close: on Escape, and when something else is pressed. */
function useClosing(place: { current: HTMLDetailsElement | null }) {
  useLayoutEffect(() => {
    const press = (event: Event) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) place.current?.removeAttribute("open");
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !place.current?.open) return;
      event.preventDefault();
      place.current.removeAttribute("open");
      place.current.querySelector("summary")?.focus();
    };
    const details = place.current;
    document.addEventListener("pointerdown", press);
    details?.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", press);
      details?.removeEventListener("keydown", escape);
    };
  }, []);
}
