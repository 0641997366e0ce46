// Which rows of a long table are in the document.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** The height of a row in pixels; the style sheet says the same. */
export const ROW = 30;

const AROUND = 24;
const MOST_ROWS = 200;

export interface Part {
  first: number;
  end: number;
}

/** The rows that are visible in a window, and some around them. */
export function partOf(n: number, top: number, height: number): Part {
  const first = Math.max(0, Math.min(Math.floor(top / ROW) - AROUND, n - 1));
  const wanted = Math.ceil(height / ROW) + 2 * AROUND;
  return { first, end: Math.min(n, first + Math.min(wanted, MOST_ROWS)) };
}

/** Where a window must begin to show a row below its header; null if it shows it already. */
export function topFor(at: number, top: number, height: number): number | null {
  if (at * ROW < top) return at * ROW;
  if ((at + 1) * ROW > top + height) return (at + 1) * ROW - height;
  return null;
}

/** Follows the position and size of a scrolling element. */
export function useScroll(scroller: RefObject<HTMLElement | null>): { top: number; height: number } {
  const [state, setState] = useState({ top: 0, height: 20 * ROW });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const { scrollTop: top, clientHeight: height } = element;
      setState((old) => (old.top === top && old.height === height ? old : { top, height }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return state;
}
