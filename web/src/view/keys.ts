// Keys of the page on which people label answers.

/** Presses the button that stands for a key; leaves keys alone while somebody types. */
export function listenForKeys(form: HTMLFormElement): void {
  let isSent = false;
  form.addEventListener("submit", (event) => {
    // A key that is held down would send the next label as well.
    if (isSent) event.preventDefault();
    isSent = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const field = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (field) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (event.key === "n") {
      form.querySelector<HTMLElement>("[name=note]")?.focus();
      event.preventDefault();
    }
    if (/^[123]$/.test(event.key)) form.querySelector<HTMLButtonElement>(`button[data-key="${event.key}"]`)?.click();
  });
}
