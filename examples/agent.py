"""A small agent for `juror bench`: Python's standard library alone, and no model.

It searches the pool with the query, calls the best API with the words it knows for each parameter,
and answers with what the API said. A real agent would ask a model which API to call.
"""

import json
import sys
import urllib.parse
import urllib.request

KNOWN = {"garden": "Thornfold", "date": "2026-05-01", "name": "spleenwort", "is_id": "P-118"}


def get(url):
    with urllib.request.urlopen(url) as reply:
        return json.load(reply)


def post(url, body):
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)


def answer(setup, task):
    words = urllib.parse.urlencode({"q": task["query"], "k": 2})
    said = []
    for tool in task["tools"] or get(f"{setup['tools_url']}/search?{words}"):
        required = tool["function"]["parameters"]["required"]
        arguments = {name: KNOWN.get(name, "") for name in required}
        call = {name: tool[name] for name in ("category", "tool_name", "api_name")}
        reply = post(task["virtual_url"], call | {"tool_input": arguments, "strip": "", "toolbench_key": ""})
        said.append(f"{tool['api_name']}: {reply['response'] or reply['error']}")
    return "This is what the tools say. " + "; ".join(said)


def main():
    setup = json.loads(sys.stdin.readline())
    print(json.dumps({"type": "ready", "name": "example agent"}), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        final_answer = answer(setup, task)
        said = {"type": "answered", "query_id": task["query_id"], "final_answer": final_answer}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
