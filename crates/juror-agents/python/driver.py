"""Speaks Juror's protocol for an object that answers questions: lines of JSON on the standard streams.

Juror starts this with the name of the object, as `module:object`.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
import sysconfig
import traceback


def protocol_stream():
    """Takes standard output for the protocol alone: whatever is printed goes to standard error."""
    sys.stdout.flush()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return stream


class Unable(Exception):
    """The object cannot be asked anything, and what to do about that."""

    def __init__(self, why, hint=""):
        super().__init__(why)
        self.hint = hint


def find(spec):
    """Imports the module, from the current folder first, and returns its object."""
    module, _, name = spec.partition(":")
    found = imported(module)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise Unable(str(error), names_in(found)) from error
    return found


def imported(name):
    """Imports a module, or says why that is impossible."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if name == missing or name.startswith(missing + "."):
            place = os.path.join(*name.split(".")) + ".py"
            hint = f"run juror in the folder that has {place}, or install the module for {sys.executable}"
        else:
            hint = f"install `{missing}` for {sys.executable}, or activate the environment that has it"
        raise Unable(f"cannot import `{name}`: {words(error)}", hint) from error
    except BaseException as error:
        tell(error)
        raise Unable(f"cannot import `{name}`: {words(error)}", f"{sys.executable} imports it") from error


def names_in(found):
    """Says what an object has that can be asked."""
    values = getattr(found, "__dict__", {})
    own = [name for name, value in values.items() if is_own(found, name, value)]
    return f"it has: {', '.join(own[:10])}" if own else ""


def is_own(found, name, value):
    """Whether something is meant to be asked: callable or with `answer`, and not imported from elsewhere."""
    can_answer = callable(value) or callable(getattr(value, "answer", None))
    module = getattr(value, "__module__", getattr(found, "__name__", None))
    return can_answer and not name.startswith("_") and module == getattr(found, "__name__", module)


def answerer(found):
    """Returns the function that answers: the object itself, or its method `answer`."""
    if inspect.isclass(found):
        found = made(found)
    answer = getattr(found, "answer", None)
    answer = answer if callable(answer) else found
    if not callable(answer):
        raise Unable(f"{type(found).__name__} has no method `answer`, and cannot be called")
    return answer


def made(own):
    """Creates an object of a class."""
    try:
        return own()
    except BaseException as error:
        tell(error)
        raise Unable(f"`{own.__name__}()` fails: {words(error)}", "a class is called without arguments") from error


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


LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def own_frames(error):
    """Returns the frames of the user's own code, innermost last: no libraries, and nothing of this driver."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if os.path.exists(one.filename)]
    own = [one for one in frames if not os.path.abspath(one.filename).startswith(LIBRARIES)]
    # An object of a library fails in the library.
    return own or [one for one in frames if one.filename != importlib.__file__][-1:]


def place(frame):
    """Returns where a frame is, as short as it can be found from here."""
    here = os.path.join(os.getcwd(), "")
    return f"{os.path.abspath(frame.filename).removeprefix(here)}:{frame.lineno}"


def words(error):
    """Returns an exception on one line: what it says, where, and what led to it."""
    told = " ".join(line.strip() for line in traceback.format_exception_only(type(error), error)[-1].splitlines())
    if isinstance(error, SyntaxError) and error.filename:
        return f"{told} ({place(error)})"
    frames = own_frames(error)
    if frames:
        told += f" ({place(frames[-1])}, in {frames[-1].name})"
    parts = getattr(error, "exceptions", ())
    if isinstance(parts, tuple) and parts:
        told += ": " + "; ".join(words(one) for one in parts[:3])
    return told if error.__cause__ is None else f"{told}, caused by {words(error.__cause__)}"


def tell(error):
    """Shows where the user's code failed, on standard error."""
    lines = [f"{words(error)}\n"]
    for frame in own_frames(error):
        lines.append(f"  {place(frame)}, in {frame.name}: {frame.line}\n")
    sys.stderr.write("".join(lines))
    sys.stderr.flush()


def main(spec):
    stream = protocol_stream()

    def say(message):
        stream.write(json.dumps(message, default=str) + "\n")
        stream.flush()

    try:
        answer = answerer(find(spec))
    except Unable as unable:
        say({"type": "error", "error": str(unable), "hint": unable.hint})
        sys.exit(1)
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
            tell(error)
            told = {"error": words(error)}
        say({**told, "type": "answered", "query_id": task["query_id"]})


main(sys.argv[1])
