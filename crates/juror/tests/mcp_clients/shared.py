"""What the tests of both Python clients share: queries of runs, and what is expected."""

import json
import os
import urllib.error
import urllib.request

URL = os.environ["JUROR_URL"]
JUROR = os.environ["JUROR"]
TOOLS = ["mcp", "--tools", "examples/tools", "--cache", "examples/tool_cache"]
WEATHER = "current_for_garden_weather"
THORNFOLD = {"celsius": 11.5, "humidity": 0.82, "sky": "overcast"}


def request(method, path, headers=None, body=None):
    made = urllib.request.Request(URL + path, method=method, headers=headers or {}, data=body)
    try:
        with urllib.request.urlopen(made) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, None


def open_query(run):
    """Opens a query, and returns its address and a function that lists its calls."""
    _, opened = request("POST", f"/runs/{run}/1")
    key = {"juror-run-key": opened["key"]}
    return URL + opened["mcp"], lambda: request("GET", opened["calls"], key)[1]["calls"]


def check_recorded(calls):
    made = [(call["tool_name"], call["api_name"], call["source"]) for call in calls]
    assert made == [("Garden Weather", "Current", "cache"), ("Garden Weather", "Current", "none")], made


def check_foreign_origin():
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"content-type": "application/json", "origin": "https://evil.example"}
    assert request("POST", "/mcp", headers, body)[0] == 403
    assert request("POST", "/mcp", {**headers, "origin": URL}, body)[0] == 200
