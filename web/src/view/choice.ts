// Choosing runs to compare: it takes two.

/** Keeps the button from asking for a comparison of fewer than two runs. */
export function chooseRuns(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>("button");
  if (!button) return;
  const update = () => {
    button.disabled = form.querySelectorAll("input[name=run]:checked").length < 2;
  };
  form.addEventListener("change", update);
  update();
}
