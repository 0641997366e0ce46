"""A model on loopback that speaks OpenAI's chat completions and responses, and follows a simple rule.

It first calls every tool that it is offered, all at once, with arguments by their names; then it
answers with what the tools replied. If it is offered a tool `final_answer`, it answers by that.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ARGUMENTS = {"garden": "Thornfold", "date": "2026-05-01", "name": "spleenwort", "is_id": "P-118"}
FINAL = "final_answer"

Json = dict[str, Any]


class Turn:
    """What the model says: calls, or a text."""

    def __init__(self, request: Json) -> None:
        tools = [tool.get("function", tool) for tool in request.get("tools") or ()]
        said = request.get("messages") or request["input"]
        messages = said if isinstance(said, list) else [{"role": "user", "content": said}]
        replies = [text_of(one) for one in messages if is_reply(one)]
        self.calls: list[tuple[str, str]] = []
        self.text = ""
        if not replies:
            own = [tool for tool in tools if tool["name"] != FINAL]
            self.calls = [(tool["name"], json.dumps(arguments_of(tool))) for tool in own]
            self.text = "" if self.calls else "There are no tools."
        elif any(tool["name"] == FINAL for tool in tools):
            self.calls = [(FINAL, json.dumps({"answer": answer(replies)}))]
        else:
            self.text = answer(replies)


def arguments_of(tool: Json) -> Json:
    schema = tool["parameters"]
    return {name: ARGUMENTS.get(name, "") for name in schema.get("required", ())}


def is_reply(message: Json) -> bool:
    """Whether a message has what a tool replied; smolagents puts that into the user's mouth."""
    if message.get("type") == "function_call_output" or message.get("role") == "tool":
        return True
    return message.get("role") == "user" and "Observation" in text_of(message)


def text_of(message: Json) -> str:
    content = message.get("output", message.get("content")) or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def answer(replies: list[str]) -> str:
    return "This is what the tools say. " + "; ".join(replies)


def completion(turn: Turn) -> Json:
    calls = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(turn.calls)
    ]
    message: Json = {"role": "assistant", "content": turn.text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    about = {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**about, "choices": [choice], "usage": usage}


def chunks(turn: Turn) -> Iterator[str]:
    whole = completion(turn)
    (choice,) = whole["choices"]
    said = choice.pop("message")
    whole["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": said["content"]}]
    # OpenAI sends one call at a time.
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(said.get("tool_calls", ()))]
    ends = [*((delta, None) for delta in deltas), ({}, choice["finish_reason"])]
    for delta, reason in ends:
        yield json.dumps({**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    yield "[DONE]"


def response(turn: Turn) -> Json:
    output: list[Json] = [
        {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "name": name, "arguments": arguments}
        for at, (name, arguments) in enumerate(turn.calls)
    ]
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        output.append({"type": "message", "id": "m", "role": "assistant", "content": content})
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    about = {"id": "r", "object": "response", "created_at": 1, "model": "scripted", "status": "completed"}
    asked = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**about, **asked, "output": [{**one, "status": "completed"} for one in output], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)  # type: ignore[attr-defined]
        turn = Turn(request)
        if self.path.endswith("/responses"):
            self.reply("application/json", json.dumps(response(turn)))
        elif request.get("stream"):
            self.reply("text/event-stream", "".join(f"data: {chunk}\n\n" for chunk in chunks(turn)))
        else:
            self.reply("application/json", json.dumps(completion(turn)))

    def reply(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: Any) -> None:
        """Says nothing."""


@contextmanager
def serve() -> Iterator[tuple[str, list[Json]]]:
    """Serves the model; gives its address and the requests that it gets."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", server.requests  # type: ignore[attr-defined]
        finally:
            server.shutdown()
