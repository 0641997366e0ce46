// What judges were asked for a verdict, and what they replied.

import type { Call, CallText, Verdict } from "../contract";
import { Fold } from "../fold";
import { count, usd } from "../format";
import { LongText, Text } from "../text";

export function Calls({ verdict: { calls, no_calls: why, repeats } }: { verdict: Verdict }) {
  if (why !== null) {
    return (
      <p class="note">
        Prompts and replies: <Text value={why} />
      </p>
    );
  }
  if (calls.length === 0) return <p class="note">No model was asked for this.</p>;
  const price = calls.reduce<number | null>((sum, call) => (sum === null || call.usd === null ? null : sum + call.usd), 0);
  const isRepeated = repeats.length > 0 || calls.some((call) => call.repeat > 0);
  const summary = (
    <>
      {calls.length === 1 ? "Prompt and reply" : `${calls.length} prompts and replies`}
      {price !== null && <span class="by">US$ {usd(price)}</span>}
    </>
  );
  return (
    <Fold summary={summary} class="calls">
      {() => (calls.length === 1 && calls[0] ? <CallBody call={calls[0]} /> : calls.map((call) => <OneCall call={call} isRepeated={isRepeated} />))}
    </Fold>
  );
}

function OneCall({ call, isRepeated }: { call: Call; isRepeated: boolean }) {
  const summary = (
    <>
      <Text value={call.purpose} />
      {isRepeated && `, repeat ${call.repeat + 1}`}
      {call.usd !== null && <span class="by">US$ {usd(call.usd)}</span>}
    </>
  );
  return (
    <Fold summary={summary} class="call">
      {() => <CallBody call={call} />}
    </Fold>
  );
}

function CallBody({ call: { purpose, model, messages, reply, tokens } }: { call: Call }) {
  return (
    <>
      <p class="note">
        <Text value={purpose} />, asked of <Text value={model} />: {count(tokens[0], "token")} sent, {count(tokens[1], "token")} back
      </p>
      {[...messages, reply].map((text) => (
        <Message message={text} />
      ))}
    </>
  );
}

function Message({ message: { role, text, more } }: { message: CallText }) {
  return (
    <div class="labelled">
      <p class="name">
        <Text value={role} />
      </p>
      <LongText value={text} more={more} />
    </div>
  );
}
