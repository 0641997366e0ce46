import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keysOn, switchKeys } from "../keys";

interface KeyListProps {
  open: boolean;
  comparison: boolean;
  onClose: () => void;
}

/** The dialog with the keys of the page. */
export function KeyList({ open, comparison, onClose }: KeyListProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(keysOn);
  useLayoutEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  const marked = comparison ? "broken" : "wrong";
  const keys: [string[], string][] = [
    [["j", "↓"], "next question; the arrow in the table"],
    [["k", "↑"], "previous question; the arrow in the table"],
    [["n"], `next ${marked} question`],
    [["p"], `previous ${marked} question`],
    [["Enter"], "open the question"],
    [["Esc"], "close the question, or leave a field"],
    [["/"], "to the text filter"],
    [["?"], "this list"],
  ];
  const change = (to: boolean) => {
    switchKeys(to);
    setOn(to);
  };
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys-title">
      <h3 id="keys-title">Keys</h3>
      <dl class="keys">
        {keys.map(([names, meaning]) => (
          <div>
            <dt>
              {names.map((name) => (
                <kbd>{name}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input type="checkbox" checked={on} onChange={(event) => change(event.currentTarget.checked)} />
        Keys with a single letter or sign
      </label>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
