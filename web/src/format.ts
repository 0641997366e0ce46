// Numbers in words and figures.

import type { Metric, Unit } from "./contract";

export const NONE = "–";
const MINUS = "\u2212";

/** A score in the unit of its metric. */
export function score(value: number | null | undefined, unit: Unit | null): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value < 0) return MINUS + score(-value, unit);
  switch (unit) {
    case "fraction":
    case "cosine":
      return fraction(value);
    case "truth":
      return value === 1 ? "yes" : value === 0 ? "no" : fraction(value);
    case "tokens":
    case "count":
      return grouped(value, Number.isInteger(value) ? 0 : 1);
    case "seconds":
      return seconds(value);
    case "usd":
      return usd(value);
    default:
      return Number.isInteger(value) ? grouped(value, 0) : fraction(value);
  }
}

/** A difference with its sign; no sign if there is none. */
export function difference(value: number | null, unit: Unit | null): string {
  if (value === null) return NONE;
  const size = score(Math.abs(value), unit === "truth" ? "fraction" : unit);
  if (value === 0) return size;
  return (value > 0 ? "+" : MINUS) + size;
}

/** Whether a difference is good or bad, by what the metric says is better. */
export function tendency(value: number | null, better: Metric["better"]): "good" | "bad" | "even" {
  if (value === null || value === 0 || better === null) return "even";
  return value > 0 === (better === "higher") ? "good" : "bad";
}

/** What stands beside a metric's name; empty if its scores speak for themselves. */
export function unitSign(unit: Unit | null): string {
  return unit === "seconds" ? "s" : unit === "usd" ? "US$" : unit === "tokens" ? "tokens" : "";
}

/** Three decimals. Rounding never makes a score perfect or zero that is not. */
function fraction(value: number): string {
  const shown = value.toFixed(3);
  if (shown === "1.000" && value < 1) return ">0.999";
  if (shown === "0.000" && value > 0) return "<0.001";
  return shown;
}

export function seconds(value: number): string {
  return value.toFixed(value > 0 && value < 0.01 ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0);
}

export function usd(value: number): string {
  if (value === 0) return "0";
  if (value < 0.000001) return "<0.000001";
  return value.toFixed(value < 0.001 ? 6 : value < 1 ? 4 : 2);
}

/** A number with its thousands apart. */
export function grouped(value: number, decimals = 0): string {
  const [whole = "", part] = value.toFixed(decimals).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${apart}.${part}` : apart;
}

/** A number of things: `1 row`, `2,000 rows`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}
