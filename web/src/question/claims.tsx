import type { Claims } from "../contract";
import { Text } from "../text";

/**
 * Claims of reference and answer: pairs that match, then those that found no partner. Of several repeats
 * they are those of one.
 */
export function ClaimList({ claims, repeats }: { claims: Claims; repeats: number }) {
  const { reference, actual, matching } = claims;
  const matchedReference = new Set(matching.map(([of]) => of));
  const matchedActual = new Set(matching.map(([, of]) => of));
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Claims">
      <table class="data claims">
        <caption>Claims{repeats > 1 && ` of one of ${repeats} repeats, the one with the median f1`}</caption>
        <thead>
          <tr>
            <th class="sign">
              <span class="off-screen">mark</span>
            </th>
            <th scope="col">of the reference</th>
            <th scope="col">of the answer</th>
          </tr>
        </thead>
        <tbody>
          {matching.map(([left, right]) => (
            <ClaimRow kind="right" sign="✓" word="match" left={reference[left]} right={actual[right]} />
          ))}
          {reference.map((claim, at) => !matchedReference.has(at) && <ClaimRow kind="missing" sign="−" word="only in the reference" left={claim} />)}
          {actual.map((claim, at) => !matchedActual.has(at) && <ClaimRow kind="extra" sign="+" word="only in the answer" right={claim} />)}
        </tbody>
      </table>
    </div>
  );
}

interface ClaimRowProps {
  kind: string;
  sign: string;
  word: string;
  left?: string | undefined;
  right?: string | undefined;
}

function ClaimRow({ kind, sign, word, left, right }: ClaimRowProps) {
  return (
    <tr class={kind}>
      <th scope="row" class="sign" title={word}>
        {sign}
        <span class="off-screen"> {word}</span>
      </th>
      <ClaimCell claim={left} />
      <ClaimCell claim={right} />
    </tr>
  );
}

function ClaimCell({ claim }: { claim: string | undefined }) {
  return <td class={claim === undefined ? "gap" : ""}>{claim !== undefined && <Text value={claim} />}</td>;
}
