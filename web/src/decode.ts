// Reads the data that the page carries: JSON, compressed, as base64 in elements that do not run.

import type { Detail, Index } from "./contract";

export class Unreadable extends Error {}

/** Reads the list of questions. */
export async function readIndex(): Promise<Index> {
  const index = await readElement<Index>("juror-index");
  if (index.format !== "juror.report/1") throw new Unreadable(`the format \`${String(index.format)}\` is unknown`);
  return index;
}

const chunks = new Map<number, Promise<Detail[]>>();

/** Reads the details of one question. Chunks that were read before are kept. */
export async function readDetail(index: Index, at: number): Promise<Detail> {
  const number = Math.floor(at / index.chunk);
  let chunk = chunks.get(number);
  if (!chunk) {
    chunk = readElement<Detail[]>(`juror-chunk-${number}`);
    chunks.set(number, chunk);
  }
  const detail = (await chunk)[at % index.chunk];
  if (!detail) throw new Unreadable("this report has no details of this question");
  return detail;
}

async function readElement<T>(id: string): Promise<T> {
  const element = document.getElementById(id);
  if (!element) throw new Unreadable(`the page has no part \`${id}\``);
  if (typeof DecompressionStream === "undefined") {
    throw new Unreadable("this browser cannot decompress data; browsers from 2023 on can");
  }
  const unpacked = new Blob([bytes(element.textContent ?? "")]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(unpacked).json()) as T;
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const found = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) found[at] = text.charCodeAt(at);
  return found;
}
