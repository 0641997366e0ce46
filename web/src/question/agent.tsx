// What only benchmarks of agents have: the right APIs, and the trajectory as a tree.

import type { Api, Attempt, Gold, TreeNode } from "../contract";
import { Fold } from "../fold";
import { count } from "../format";
import { LongText, Text } from "../text";

export function Agent({ gold, attempt }: { gold: Gold | null; attempt: Attempt }) {
  const called = attempt.called ?? [];
  const others = called.filter(([, , right]) => !right);
  return (
    <>
      {(gold || attempt.called) && (
        <section class="part" aria-labelledby="apis-title">
          <h4 id="apis-title">APIs</h4>
          <ul class="apis">
            {gold?.apis.map((api) => (
              <GoldApi {...{ api, attempt }} />
            ))}
            {others.map(([tool, api]) => (
              <ApiLine api={[tool, api]} class="extra" sign="+" word="called, not among the right ones" />
            ))}
          </ul>
        </section>
      )}
      {attempt.tree && attempt.tree.length > 0 && <Tree nodes={attempt.tree} />}
    </>
  );
}

function GoldApi({ api, attempt }: { api: Api; attempt: Attempt }) {
  const same = ([tool, name]: readonly [string, string, ...unknown[]]) => tool === api[0] && name === api[1];
  if (attempt.missing?.some(same)) return <ApiLine api={api} class="missing" sign="−" word="right, not called" />;
  if (attempt.called?.some(same)) return <ApiLine api={api} class="right" sign="✓" word="right, called" />;
  return <ApiLine api={api} class="" sign="·" word="right" />;
}

function ApiLine({ api, class: name, sign, word }: { api: Api; class: string; sign: string; word: string }) {
  return (
    <li class={name}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <code>
        <Text value={`${api[0]} · ${api[1]}`} />
      </code>
      <span class="word">{word}</span>
    </li>
  );
}

const DEEPEST = 12;

function Tree({ nodes }: { nodes: TreeNode[] }) {
  return (
    <section class="part" aria-labelledby="tree-title">
      <h4 id="tree-title">Trajectory</h4>
      <Fold summary={`${count(nodes.length, "node")}`} open={nodes.length <= 12}>
        {() => (
          <ol class="tree">
            {nodes.map((node) => (
              <li class={`depth-${Math.min(node.depth, DEEPEST)}`}>
                <p class="node">
                  <span class={`tag ${node.kind === "error" ? "error" : ""}`}>
                    <Text value={node.kind} />
                  </span>
                  {node.name !== null && (
                    <b>
                      <Text value={node.name} />
                    </b>
                  )}
                  <span class="off-screen">level {node.depth}</span>
                </p>
                {node.text !== "" && <LongText value={node.text} />}
              </li>
            ))}
          </ol>
        )}
      </Fold>
    </section>
  );
}
