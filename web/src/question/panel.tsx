// One question: everything the report says about it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { View } from "../address";
import type { Detail, Index } from "../contract";
import { readDetail } from "../decode";
import { grouped } from "../format";
import type { Go } from "../navigation";
import { Flags, Status } from "../questions/row";
import { CLOSED, type Move } from "../questions/use_keys";
import { LongText, Text } from "../text";
import { Body } from "./body";

interface PanelProps {
  index: Index;
  view: View;
  rows: number[];
  open: number | null;
  move: Move;
  go: Go;
}

export function Panel({ index, view, rows, open, move, go }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView();
  }, [view.q, view.g]);
  return (
    <article class="question" ref={panel} aria-labelledby="question-title">
      <header>
        <h3 id="question-title" ref={heading} tabIndex={-1}>
          <Text value={view.q ?? ""} />
        </h3>
        {open !== null && <Facts {...{ index, open }} />}
        <Moves {...{ rows, open, move }} onClose={() => go(CLOSED)} />
      </header>
      {open === null ? <p class="note bad">This report has no such question.</p> : <Details key={open} {...{ index, view, at: open }} />}
    </article>
  );
}

function Facts({ index, open }: { index: Index; open: number }) {
  const { group, flags } = index.questions;
  return (
    <p class="facts">
      <Text value={index.groups[group[open]!] ?? ""} />
      <Status index={index} at={open} />
      <Flags flags={flags[open] ?? 0} />
    </p>
  );
}

interface MovesProps {
  rows: number[];
  open: number | null;
  move: Move;
  onClose: () => void;
}

function Moves({ rows, open, move, onClose }: MovesProps) {
  const place = open === null ? -1 : rows.indexOf(open);
  return (
    <div class="moves">
      {place !== -1 && (
        <span class="place">
          {grouped(place + 1)} of {grouped(rows.length)}
        </span>
      )}
      <button type="button" disabled={place === 0} onClick={() => move(-1)} title="Previous question (k)">
        <span aria-hidden="true">↑</span> Previous
      </button>
      <button type="button" disabled={place === rows.length - 1} onClick={() => move(1)} title="Next question (j)">
        <span aria-hidden="true">↓</span> Next
      </button>
      <button type="button" onClick={onClose} title="Close the question (Escape)">
        <span aria-hidden="true">×</span> Close
      </button>
    </div>
  );
}

type Loaded = { detail: Detail } | { problem: string } | null;

function Details({ index, view, at }: { index: Index; view: View; at: number }) {
  const [loaded, setLoaded] = useState<Loaded>(null);
  useEffect(() => {
    let wanted = true;
    readDetail(index, at).then(
      (detail) => wanted && setLoaded({ detail }),
      (error: unknown) => wanted && setLoaded({ problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      wanted = false;
    };
  }, []);
  if (loaded === null) return <LongText value={index.questions.text[at] ?? ""} />;
  if ("problem" in loaded) return <p class="note bad">The details of this question cannot be read: {loaded.problem}.</p>;
  return <Body {...{ index, view, at }} detail={loaded.detail} />;
}
