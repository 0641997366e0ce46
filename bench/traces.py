"""Measures `juror import` on a large OTLP file, and `juror eval` on responses of as many bytes.

Makes JSON lines of OTLP as a collector writes them: each trace is an agent with calls of a model,
which repeat the history, and spans of tools; the spans of a trace are spread over lines far apart,
children before parents. Prints the peak memory and the speed of both commands.

    python3 bench/traces.py --megabytes 1000 --juror target/release/juror
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

START = 1_785_578_400_000_000_000


def attributes(values):
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def span(trace, number, parent, name, at, values):
    return {
        "traceId": f"{trace:032x}", "spanId": f"{trace * 64 + number:016x}",
        "parentSpanId": f"{trace * 64 + parent:016x}" if parent else "", "name": name,
        "startTimeUnixNano": str(START + at), "endTimeUnixNano": str(START + at + 900_000),
        "attributes": attributes(values), "status": {},
    }


def spans_of(trace, rng):
    """The spans of one agent's run: a few calls, each with an output of some kilobytes."""
    question = f"Which taxa grow in bed {trace}?"
    history = [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    spans, number = [], 2
    for turn in range(rng.randint(1, 5)):
        call, at = f"call_{trace}_{turn}", turn * 3_000_000
        arguments = {"query": f"SELECT ?taxon WHERE {{ ?taxon :bed {trace}, {turn} }}"}
        asked = {"role": "assistant", "parts": [{"type": "tool_call", "id": call, "name": "sparql_query", "arguments": arguments}]}
        spans.append(span(trace, number, 1, "chat model", at, {
            "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "100",
            "gen_ai.input.messages": json.dumps(history), "gen_ai.output.messages": json.dumps([asked])}))
        rows = [{"taxon": {"type": "literal", "value": f"taxon {rng.random()}"}} for _ in range(rng.randint(5, 40))]
        output = json.dumps({"head": {"vars": ["taxon"]}, "results": {"bindings": rows}})
        spans.append(span(trace, number + 1, 1, "execute_tool sparql_query", at + 1_000_000, {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sparql_query", "gen_ai.tool.call.id": call,
            "gen_ai.tool.call.arguments": json.dumps(arguments), "gen_ai.tool.call.result": output}))
        history += [asked, {"role": "tool", "parts": [{"type": "tool_call_response", "id": call, "response": output}]}]
        number += 2
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": f"It is taxon {trace}."}]}]
    spans.append(span(trace, number, 1, "chat model", 20_000_000, {
        "gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(history), "gen_ai.output.messages": json.dumps(answer)}))
    spans.append(span(trace, 1, 0, "invoke_agent garden", 0, {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "garden", "question_id": f"q{trace}"}))
    return spans


def write_traces(path, size, rng):
    """Lines of up to 20 spans; roots come up to a thousand traces after their children."""
    waiting, trace, written = [], 0, 0
    with open(path, "w") as file:
        while written < size:
            trace += 1
            *inner, root = spans_of(trace, rng)
            waiting.append(root)
            late = [waiting.pop(rng.randrange(len(waiting)))] if len(waiting) > 1000 else []
            for first in range(0, len(inner), 20):
                written += write_line(file, inner[first:first + 20] + late)
                late = []
        for root in waiting:
            write_line(file, [root])
    return trace


def write_line(file, spans):
    line = json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}]}]})
    return file.write(line + "\n")


def write_responses(path, reference, size, rng):
    """Responses of as many bytes, and their reference. Nothing is held: a process that is started counts
    the memory of the one that started it as its own."""
    written, number = 0, 0
    with open(path, "w") as file, open(reference, "w") as questions:
        questions.write('[{"template_id": "beds", "questions": [')
        while written < size:
            number += 1
            steps = []
            for turn in range(3):
                rows = [{"taxon": {"type": "literal", "value": f"taxon {rng.random()}"}} for _ in range(rng.randint(5, 40))]
                output = json.dumps({"head": {"vars": ["taxon"]}, "results": {"bindings": rows}})
                steps.append({"name": "sparql_query", "args": {"query": f"{turn}"}, "id": f"call_{turn}", "status": "success", "output": output})
            written += file.write(json.dumps({"question_id": f"q{number}", "actual_answer": "It is.", "actual_steps": steps}) + "\n")
            questions.write(",\n" if number > 1 else "\n")
            json.dump({"id": f"q{number}", "question_text": "Which?", "reference_steps": [[{
                "name": "sparql_query", "output": output, "output_media_type": "application/sparql-results+json"}]]}, questions)
        questions.write("]}]")


def measured(command, size):
    """Runs a command; returns seconds, megabytes a second and the peak of its memory."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"{command} ended with {status}")
    return seconds, size / 1e6 / seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--juror", default="target/release/juror")
    parser.add_argument("--folder", help="where files are made, and kept; a temporary folder by default")
    options = parser.parse_args()
    size, rng = options.megabytes * 1_000_000, random.Random(7)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        os.makedirs(folder, exist_ok=True)
        traces, responses, reference = (os.path.join(folder, name) for name in ("traces.jsonl", "responses.jsonl", "reference.json"))
        n_traces = write_traces(traces, size, rng)
        write_responses(responses, reference, size, rng)
        print(f"{n_traces} traces, {os.path.getsize(traces) / 1e6:.0f} MB")
        out = os.path.join(folder, "imported.jsonl")
        rows = [
            ("juror import", [options.juror, "import", traces, "-o", out, "-q"], os.path.getsize(traces)),
            ("juror eval", [options.juror, "eval", reference, responses, "-o", os.path.join(folder, "results.jsonl"), "-q", "--no-model"], os.path.getsize(responses)),
        ]
        speeds = []
        for name, command, length in rows:
            seconds, speed, memory = measured(command, length)
            speeds.append(speed)
            print(f"{name:14} {seconds:8.2f} s {speed:8.0f} MB/s {memory:8.0f} MB at most")
        n_imported = sum(1 for _ in open(out))
        print(f"{n_imported} responses of {n_traces} traces; import has {speeds[0] / speeds[1]:.2f} of eval's speed")


if __name__ == "__main__":
    main()
