"""Speaks Juror's protocol for an object that answers questions: lines of JSON on the standard streams.

Juror starts this with the name of the object, as `module:object`.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
import traceback


def protocol_stream():
    """Takes standard output for the protocol alone: whatever is printed goes to standard error."""
    sys.stdout.flush()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return stream


def find(spec):
    """Imports the module, from the current folder first, and returns its object."""
    module, _, name = spec.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def answerer(found):
    """Returns the function that answers: the object itself, or its method `answer`."""
    if inspect.isclass(found):
        found = found()
    answer = getattr(found, "answer", None)
    answer = answer if callable(answer) else found
    if not callable(answer):
        raise TypeError(f"{type(found).__name__} has no method `answer`, and cannot be called")
    return answer


def extras(answer, task):
    """Returns what the function takes beside the question, by the names of its parameters."""
    try:
        parameters = list(inspect.signature(answer).parameters)[1:]
    except (TypeError, ValueError):
        return {}
    known = {"task": task, "trial": task.get("trial"), "tools": task.get("tools")}
    return {name: known[name] for name in parameters if name in known}


def said(result):
    """Returns an answer as the protocol has it."""
    if isinstance(result, dict):
        return result
    if result is None or isinstance(result, str):
        return {"final_answer": result}
    return {"final_answer": str(result)}


def ask(answer, task, loop):
    result = answer(task["query"], **extras(answer, task))
    if inspect.isawaitable(result):
        result = loop.run_until_complete(result)
    return said(result)


def failure(error):
    return {"error": "".join(traceback.format_exception_only(type(error), error)).strip()}


def main(spec):
    stream = protocol_stream()

    def say(message):
        stream.write(json.dumps(message, default=str) + "\n")
        stream.flush()

    answer = answerer(find(spec))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for line in sys.stdin:
        task = json.loads(line)
        if task.get("type") == "setup":
            say({"type": "ready"})
            continue
        try:
            told = ask(answer, task, loop)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            traceback.print_exc()
            told = failure(error)
        say({**told, "type": "answered", "query_id": task["query_id"]})


main(sys.argv[1])
