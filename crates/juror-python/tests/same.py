"""How recorded values are compared."""

from __future__ import annotations

from typing import Any


def differences(got: Any, wanted: Any, path: str = "", lenient: bool = False) -> list[str]:
    """Where two values differ: numbers count nearly, of error texts only the presence.

    With `lenient`, costs, reasons and who judged may be there beyond what is wanted.
    """
    if is_number(got) and is_number(wanted):
        near = abs(got - wanted) <= max(1e-9, 1e-9 * abs(wanted))
        return [] if near else [f"{path}: got {got}, wanted {wanted}"]
    if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        pairs = enumerate(zip(got, wanted))
        return [line for at, (a, b) in pairs for line in differences(a, b, f"{path}[{at}]", lenient)]
    if isinstance(got, dict) and isinstance(wanted, dict):
        found = [f"{path}.{key}: missing" for key in wanted.keys() - got.keys()]
        more = got.keys() - wanted.keys()
        if lenient:
            more = {key for key in more if key != "judged_by" and not key.endswith(("_cost", "_reason"))}
        found += [f"{path}.{key}: not wanted: {got[key]!r}" for key in more]
        for key in wanted.keys() & got.keys():
            if not key.endswith("_error"):
                found += differences(got[key], wanted[key], f"{path}.{key}", lenient)
        return found
    same = type(got) is type(wanted) and got == wanted
    return [] if same else [f"{path}: got {got!r}, wanted {wanted!r}"]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
