import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface FoldProps {
  summary: ComponentChildren;
  open?: boolean;
  class?: string;
  children: () => ComponentChildren;
}

/** Something to unfold. Its content is made when it is first opened: most folds never are. */
export function Fold({ summary, open = false, class: name = "", children }: FoldProps) {
  const [opened, setOpened] = useState(open);
  return (
    <details class={`fold ${name}`} open={open} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>{summary}</summary>
      {opened && <div class="fold-body">{children()}</div>}
    </details>
  );
}
