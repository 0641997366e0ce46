"""A baseline for `juror bench`, without a model and without dependencies.

It searches the pool for the query, calls the APIs that match best with arguments from the query or
from the tool files, and answers with their replies. An agent with a model should do better than this;
if it does not, something is wrong with it.
"""

import http.client
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

MOST_CALLS = 5
NEAR_THE_BEST = 0.5  # share of the best API's search score that others need
MONTHS = "January February March April May June July August September October November December"
GIVE_UP = json.dumps({"return_type": "give_up_and_restart"})

# The tools are on this machine, so the environment's proxy must not be used.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(said, url, body=None):
    """Fetches JSON, with the headers in Juror's message, which a server of tools may require."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | said.get("headers", {})
    request = urllib.request.Request(url, data, headers)
    with direct.open(request, timeout=300) as reply:
        return json.load(reply)


def choose(setup, task):
    """Returns the APIs to call: the given ones, or the results of a search."""
    if task["tools"] is not None:
        return task["tools"][:MOST_CALLS]
    words = urllib.parse.urlencode({"q": task["query"], "k": MOST_CALLS})
    found = fetch(setup, f"{setup['tools_url']}/search?{words}")
    return [tool for tool in found if tool["score"] >= NEAR_THE_BEST * found[0]["score"]]


def find_date(query):
    """Finds a date in the query. Returns it as 2026-05-01, or None."""
    iso = re.search(r"\d{4}-\d\d-\d\d", query)
    if iso:
        return iso.group()
    spoken = re.search(r"(\d{1,2}) (\w+) (\d{4})", query)
    if spoken and spoken.group(2) in MONTHS.split():
        month = MONTHS.split().index(spoken.group(2)) + 1
        return f"{spoken.group(3)}-{month:02}-{int(spoken.group(1)):02}"
    return None


def argument(name, schema, query):
    """Returns a value for a parameter: from the query if possible, else from the tool file."""
    known = schema.get("default", (schema.get("examples") or [None])[0])
    if schema.get("type") in ("number", "integer"):
        number = re.search(r"\b\d+\b", query)
        return int(number.group()) if number else known or 1
    if "date" in name.lower():
        return find_date(query) or known or ""
    if known and str(known).lower() in query.lower():
        return known
    quoted = re.search(r"[\"“]([^\"”]+)[\"”]", query)
    capital = re.search(r"(?<=[a-z,] )[A-Z]\w+", query)
    if quoted:
        return quoted.group(1)
    return known or (capital.group() if capital else "")


def call(task, tool):
    """Calls an API. Returns its response, or None if it fails."""
    parameters = tool["function"]["parameters"]
    arguments = {
        name: argument(name, parameters["properties"].get(name, {}), task["query"])
        for name in parameters.get("required", [])
    }
    names = {name: tool[name] for name in ("category", "tool_name", "api_name")}
    body = names | {"tool_input": arguments, "strip": "", "toolbench_key": ""}
    try:
        reply = fetch(task, task["virtual_url"], body)
    except urllib.error.HTTPError as error:
        reply = {"error": f"status {error.code}", "response": ""}
    is_good = isinstance(reply, dict) and not reply.get("error") and reply.get("response")
    return reply["response"] if is_good else None


def in_words(value):
    """Renders JSON for a reader."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {in_words(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return " / ".join(in_words(inner) for inner in value)
    return str(value)


def answer(setup, task):
    said = []
    for tool in choose(setup, task):
        response = call(task, tool)
        if response is not None:
            said.append(f"{tool['tool_name']}, {tool['api_name']}: {in_words(response)}.")
    return " ".join(["The tools say this."] + said) if said else GIVE_UP


def main():
    setup = json.loads(sys.stdin.readline())
    print(json.dumps({"type": "ready", "name": "baseline"}), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        said = {"type": "answered", "query_id": task["query_id"]}
        try:
            said["final_answer"] = answer(setup, task)
        except (OSError, http.client.HTTPException, ValueError, LookupError) as error:
            said["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
