"""An agent for `juror bench` and any model that speaks OpenAI's protocol, without dependencies.

    command:python3 examples/agents/chat.py --model gpt-4o-mini

The model is offered the APIs that match the query, a function to search for more, and `Finish`. It
calls functions until it calls `Finish`, replies without a call, or has used up its steps.
OPENAI_BASE_URL and OPENAI_API_KEY select the server; `--agent-env OPENAI_API_KEY` passes the key on.
"""

import argparse
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

MOST_FUNCTIONS = 128  # what OpenAI accepts
GIVE_UP = json.dumps({"return_type": "give_up_and_restart"})

SYSTEM = """\
You answer a user's query with the functions you are given. Call those that help, with arguments
taken from the query or from earlier replies; never make a value up. If nothing fits, search for
other functions. If a call fails, correct it or try another function. End by calling Finish: with
give_answer and an answer that has all the user asked for, or with give_up_and_restart."""


def function(name, description, required, **properties):
    parameters = {"type": "object", "properties": properties, "required": required}
    about = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": about}


FINISH = function(
    "Finish",
    "Ends the work on this query.",
    ["return_type"],
    return_type={"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
    final_answer={"type": "string", "description": "The whole answer, for the user to read."},
)
SEARCH = function(
    "search_functions",
    "Finds more functions by what they do, and offers them from then on.",
    ["text"],
    text={"type": "string", "description": "What the function should do."},
)

# The tools are on this machine, so the environment's proxy must not be used.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


# The exceptions of broken connections and unexpected replies.
BROKEN = (OSError, http.client.HTTPException, ValueError, LookupError, TypeError)


class ModelError(Exception):
    """The model gave no reply."""


def fetch(open_url, url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | (headers or {})
    with open_url(urllib.request.Request(url, data, headers), timeout=300) as reply:
        return json.load(reply)


class Model:
    """A model, and the tokens that it has used."""

    def __init__(self, options):
        self.options = options
        self.url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
        self.key = os.environ.get("OPENAI_API_KEY")
        self.headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        is_local = urllib.parse.urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        self.open_url = direct.open if is_local else urllib.request.urlopen
        self.n_tokens = 0

    def ask(self, messages, functions):
        """Returns the model's next message. Retries after errors that may be temporary."""
        body = {"model": self.options.model, "messages": messages, "tools": functions}
        for attempt in range(self.options.retries + 1):
            wait = random.uniform(0.5, 1.0) * self.options.wait * 2**attempt
            try:
                reply = fetch(self.open_url, f"{self.url}/chat/completions", body, self.headers)
                self.n_tokens += (reply.get("usage") or {}).get("total_tokens", 0)
                return reply["choices"][0]["message"]
            except urllib.error.HTTPError as error:
                why = f"status {error.code}: {error.read(200).decode(errors='replace')}"
                if error.code != 429 and error.code < 500:
                    break
                wait = seconds(error.headers.get("Retry-After"), wait)
            except BROKEN as error:
                why = f"{type(error).__name__}: {error}"
            if attempt < self.options.retries:
                time.sleep(min(wait, 60))
        # Some servers quote a key that they reject.
        raise ModelError("the model gives no reply: " + why.replace(self.key or "\0", "***"))


def seconds(header, default):
    try:
        return float(header)
    except (TypeError, ValueError):
        return default


class Query:
    """The work on one query."""

    def __init__(self, setup, task, options):
        self.setup, self.task, self.options = setup, task, options
        self.offered = {}
        self.offer(self.find(task["query"]) if task["tools"] is None else task["tools"])

    def find(self, text):
        words = urllib.parse.urlencode({"q": text, "k": self.options.top})
        url = f"{self.setup['tools_url']}/search?{words}"
        return fetch(direct.open, url, headers=self.setup.get("headers"))

    def offer(self, tools):
        for tool in tools:
            if len(self.offered) < MOST_FUNCTIONS - 2:
                self.offered[tool["function"]["name"]] = tool

    def functions(self):
        plain = [{"type": "function", "function": tool["function"]} for tool in self.offered.values()]
        return plain + ([SEARCH] if self.task["tools"] is None else []) + [FINISH]

    def observe(self, name, arguments):
        """Makes a call, and returns what the model is shown of it."""
        if name == "search_functions" and self.task["tools"] is None:
            found = self.find(str(arguments.get("text", "")))
            self.offer(found)
            return [tool["function"]["name"] for tool in found]
        if name not in self.offered:
            return {"error": f"there is no function `{name}`", "response": ""}
        tool = self.offered[name]
        names = {key: tool[key] for key in ("category", "tool_name", "api_name")}
        body = names | {"tool_input": arguments, "strip": "", "toolbench_key": ""}
        try:
            return fetch(direct.open, self.task["virtual_url"], body, self.task.get("headers"))
        except urllib.error.HTTPError as error:
            return {"error": f"status {error.code}", "response": ""}

    def answer(self, model):
        """Returns the final answer, which may be to give up, or None if there is none."""
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": self.task["query"]},
        ]
        for _ in range(self.options.steps):
            said = model.ask(messages, self.functions())
            calls = said.get("tool_calls") or []
            if not calls:
                return said.get("content") or None
            messages.append({"role": "assistant", "content": said.get("content"), "tool_calls": calls})
            for call in calls:
                name, arguments = call["function"]["name"], read(call["function"]["arguments"])
                if name == "Finish":
                    return finish(call["function"]["arguments"], arguments)
                observed = {"error": "the arguments are no JSON object", "response": ""}
                if arguments is not None:
                    observed = self.observe(name, arguments)
                text = json.dumps(observed, ensure_ascii=False)[: self.options.observation]
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return None


def read(text):
    """Parses arguments. Returns None if they are not a JSON object."""
    try:
        arguments = json.loads(text or "{}", strict=False)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def finish(text, arguments):
    if arguments is None:
        return text
    if arguments.get("return_type") == "give_up_and_restart":
        return GIVE_UP
    return str(arguments.get("final_answer", ""))


def read_options():
    parser = argparse.ArgumentParser(description="An agent for `juror bench`.")
    parser.add_argument("--model", required=True, help="the name of the model on its server")
    parser.add_argument("--steps", type=int, default=12, help="how often the model is asked per query")
    parser.add_argument("--top", type=int, default=20, help="how many APIs a search returns")
    parser.add_argument("--observation", type=int, default=2048, help="how many characters of a tool's reply it sees")
    parser.add_argument("--retries", type=int, default=5, help="after status 429, 5xx or a broken connection")
    parser.add_argument("--wait", type=float, default=1.0, help="seconds before the first retry")
    return parser.parse_args()


def main():
    options = read_options()
    if not os.environ.get("OPENAI_API_KEY") and not os.environ.get("OPENAI_BASE_URL"):
        sys.exit("chat.py: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none")
    setup = json.loads(sys.stdin.readline())
    model = Model(options)
    print(json.dumps({"type": "ready", "name": f"chat on {options.model}"}), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        said = {"type": "answered", "query_id": task["query_id"]}
        n_before = model.n_tokens
        try:
            said["final_answer"] = Query(setup, task, options).answer(model)
        except (ModelError, *BROKEN) as error:
            said["error"] = f"{type(error).__name__}: {error}"
        said["tokens"] = model.n_tokens - n_before
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
