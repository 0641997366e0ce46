# Makes what the readers of pages have: files, folders and runs under the names that pages use.
# It runs in an empty folder with `examples` in it.

# Questions and answers: the example's.
for name in reference.yaml responses.jsonl juror.yaml replies.jsonl graph.ttl templates.yaml queries.json; do
  cp "examples/$name" "$name"
done
python3 - <<'END'
import json, pathlib

pathlib.Path("answers.tsv").write_text("\n".join([
    "Question\tReference answer\tActual answer",
    "What is the capital of Peru?\tLima\tLima, on the coast",
]) + "\n")

# A reference of lines, a template each.
text = pathlib.Path("responses.jsonl").read_text()
ids = [json.loads(line)["question_id"] for line in text.splitlines()]
lookup = [[{"name": "lookup", "output": "Lima"}]]
templates = [
    {"template_id": f"template-{at}", "questions": [{"id": name, "question_text": "?", "reference_steps": lookup}]}
    for at, name in enumerate(ids)
]
pathlib.Path("reference.jsonl").write_text("".join(json.dumps(template) + "\n" for template in templates))

# Conversations of an agent with two questions of the example.
def call(number, name, arguments):
    return {"id": f"call_{number}", "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)}}

def said(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}

def returned(number, content):
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}

traces = [
    {"question_id": "taxa-fern-vault", "messages": [
        {"role": "user", "content": "Which taxa grow in the Fern Vault?"},
        said(call(1, "sparql_query", {"query": "SELECT ?name { }"})),
        returned(1, '{"head": {"vars": ["name"]}, "results": {"bindings": []}}'),
        {"role": "assistant", "content": "Nothing grows there."}]},
    {"question_id": "advice-mosses", "messages": [
        {"role": "user", "content": "How are mosses kept moist?"},
        said(call(2, "search_documents", {"query": "mosses"})),
        returned(2, "[]"),
        {"role": "assistant", "content": "The notes do not say."}]},
]
pathlib.Path("traces.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in traces))
END
cp traces.jsonl trace.jsonl
printf 'tools:\n  search_documents: retrieval\n' > map.yaml
cat > broken.yaml <<'END'
- template_id: capitals
  questions:
  - id: q1
    question_text: What is the capital of Norway?
    reference_steps:
    - - name: lookup
        output: Oslo
  - id: q1
    question_text: What is the capital of Peru?
  - id: q3
    reference_answer: Lima
END

# Tools, and their replies: under Juror's names, and as StableToolBench has them.
mkdir -p toolenv solvable_queries/test_instruction
cp -r examples/tools toolenv/tools
cp -r examples/tools tools
cp -r examples/tool_cache tool_response_cache
cp examples/queries.json solvable_queries/test_instruction/G1_instruction.json
cp examples/agents/baseline.py my_agent.py
cp examples/agents/baseline.py agent.py

# Runs: of the main branch, of a change that breaks one answer and mends one, judged, and of agents.
sed -e '/taxa-fern-vault/s/\\"ladder fern\\"}}/&, {\\"name\\": {\\"type\\": \\"literal\\", \\"value\\": \\"cellar spleenwort\\"}}/' \
  -e '/tallest-thornfold/s/red-fir-2/red-fir-9/' responses.jsonl > changed.jsonl
juror eval reference.yaml responses.jsonl --profile 6 --no-model --name main --run runs/main -q
juror eval reference.yaml changed.jsonl --profile 6 --no-model --name pr-412 --run runs/pr-412 -q
juror eval reference.yaml responses.jsonl -c juror.yaml --cache replies.jsonl --cache-mode read-only \
  --name monday --run runs/monday -q
for name in one other; do
  juror bench --queries queries.json --tools tools --cache tool_response_cache --judge heuristic \
    --agent 'command:python3 agent.py' --name $name --run runs/$name -o $name.json -q
done
juror label runs/monday -o labels.jsonl
sed 's/"label": null/"label": "pass"/' labels.jsonl > runs/monday/labels.jsonl
cat > gates.yaml <<'END'
gates:
- {metric: steps_score, max_drop: 0.05}
- {metric: total_tokens, max_rise: 10%, level: warn}
- {questions: [tallest-thornfold, tallest-old-quarry], may_break: 0}
- {errors: 15%}
END
juror cache import replies.jsonl
mkdir prompts
git init -q .

# What ToolBench's own agents write: a log for each query.
python3 - <<'END'
import json, pathlib

for agent in ("my_agent", "chatgpt"):
    folder = pathlib.Path("answer", agent, "G1_instruction")
    folder.mkdir(parents=True)
    for query in json.loads(pathlib.Path("queries.json").read_text()):
        answer = json.dumps({"return_type": "give_answer", "final_answer": "It is overcast."})
        log = {"answer_generation": {"query": query["query"], "function": [], "valid_data": True,
                                     "final_answer": answer}, "trys": []}
        (folder / f"{query['query_id']}_CoT@1.json").write_text(json.dumps(log))
END
juror convert answer/chatgpt/G1_instruction --method CoT@1 -o chatgpt_cot.json
