// Keeps the view and the address of the page in step.

import { useLayoutEffect, useState } from "preact/hooks";
import { readAddress, START, writeAddress, type View } from "./address";

/** Browsers refuse addresses that change too often, such as while a key is held. */
const QUIET_MS = 150;

/** A new entry in the history, or another address for the present one. */
export type Step = "push" | "replace";

export type Go = (change: Partial<View>, step?: Step) => void;

export class Navigation {
  view: View = readAddress(location.hash) ?? START;
  private written = location.hash;
  private timer = 0;
  private readonly listeners = new Set<() => void>();

  constructor() {
    addEventListener("hashchange", () => this.follow());
  }

  readonly go: Go = (change, step = "push") => {
    this.view = { ...this.view, ...change };
    clearTimeout(this.timer);
    if (step === "push") this.write(step);
    else this.timer = window.setTimeout(() => this.write(step), QUIET_MS);
    this.tell();
  };

  /** Calls back when the view changes; returns how to stop that. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private write(step: Step) {
    const hash = writeAddress(this.view);
    if (hash === location.hash) return;
    if (step === "push") location.hash = hash;
    else location.replace(hash);
    this.written = location.hash;
  }

  private follow() {
    if (location.hash === this.written) return;
    this.written = location.hash;
    const view = readAddress(location.hash);
    if (!view) return;
    clearTimeout(this.timer);
    this.view = view;
    this.tell();
  }

  private tell() {
    for (const listener of this.listeners) listener();
  }
}

export function useView(navigation: Navigation): View {
  const [view, setView] = useState(navigation.view);
  useLayoutEffect(() => navigation.listen(() => setView(navigation.view)), [navigation]);
  return view;
}

/**
 * Calls back when a link of the static part leads into the table, so that the page can go there: no
 * element has such an address, so browsers stay where they are.
 */
export function onFollowedLink(arrive: () => void) {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#/"]') : null;
    if (link && !link.closest("#app") && !event.ctrlKey && !event.metaKey && !event.shiftKey) setTimeout(arrive);
  });
}
