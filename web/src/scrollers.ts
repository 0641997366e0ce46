// Parts that are wider than the window scroll, and the keyboard must get there.

/** Lets the keyboard scroll static parts that are wider than the window, also when that changes. */
export function keepScrollersReachable(): void {
  reach();
  addEventListener("resize", reach);
}

function reach(): void {
  for (const part of document.querySelectorAll<HTMLElement>("main > section, main > section > details, figure.chart, .scroll")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}
