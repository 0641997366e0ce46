"""Agents in Python, on the example pool."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.server
import inspect
import itertools
import json
import linecache
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import PROJECT

EXAMPLES = PROJECT / "examples"
KNOWN = {"garden": "Thornfold", "date": "2026-05-01", "name": "spleenwort", "is_id": "P-118"}


def bench(agent: Any, **options: Any) -> dict[str, Any]:
    """A run over the examples."""
    return juror.bench(agent, **{**places(), **options})


def places() -> dict[str, Any]:
    return {
        "queries": EXAMPLES / "queries.json",
        "tools": EXAMPLES / "tools",
        "cache": EXAMPLES / "tool_cache",
    }


def arguments(tool: juror.Tool) -> dict[str, str]:
    return {name: KNOWN.get(name, "") for name in tool.parameters["required"]}


def errors(result: dict[str, Any]) -> dict[str, str | None]:
    return {str(one["query_id"]): one.get("error") for one in result["results"]}


def answers(result: dict[str, Any]) -> list[str]:
    return [one["system_answer"]["final_answer"] for one in result["results"]]


def attempts(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "attempts.jsonl").read_text("utf-8").splitlines()]


class Careful:
    """Calls each of its tools with what it knows."""

    tools: dict[str, juror.Tool]

    def setup_tools(self, tools: dict[str, juror.Tool]) -> None:
        self.tools = tools

    def answer(self, query: str) -> str:
        return "; ".join(f"{tool.name}: {tool(**arguments(tool))}" for tool in self.tools.values())


class CarefulAsync:
    async def setup_tools(self, tools: dict[str, juror.Tool]) -> None:
        self.tools = tools

    async def answer(self, query: str) -> str:
        replies = [tool.acall(**arguments(tool)) for tool in self.tools.values()]
        return "; ".join(map(str, await asyncio.gather(*replies)))


@pytest.mark.parametrize("agent", [Careful, CarefulAsync])
def test_every_tool_reaches_its_own_api(agent: Any, tmp_path: Path) -> None:
    result = bench(agent, pool="own", run=tmp_path / "run", jobs=2)
    for one in attempts(tmp_path / "run"):
        (query,) = (own for own in result["results"] if str(own["query_id"]) == one["query_id"])
        offered = query["gold_answer"]["available_tools"]
        wanted = {
            (tool["category"], tool["tool_name"], api["api_name"]) for tool in offered for api in tool["apis"]
        }
        assert {(call["category"], call["tool_name"], call["api_name"]) for call in one["calls"]} == wanted
    assert result["summary"]["average_api_call_score"] == 1.0
    assert result["juror"]["tool_replies"].keys() == {"cache"}


def test_the_result_is_the_documents_dict_and_the_file(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    result = bench(Careful, pool="own", judge="heuristic", output=file, name="careful")
    assert json.loads(file.read_text("utf-8")) == result
    assert result["metadata"]["framework"] == "careful"
    assert result["metadata"]["config"]["agent"].endswith("test_bench.Careful")
    assert result["metadata"]["config"]["evaluation_method"] == "heuristic"
    assert result["summary"]["total_queries"] == len(result["results"]) == 4
    first = result["results"][0]
    assert {"query_id", "query_text", "gold_answer", "system_answer", "scores"} <= first.keys()
    assert first["system_answer"]["called_apis"] == [["Garden Weather", "Current"], ["Garden Visits", "Opening hours"]]


def test_nothing_is_written_that_was_not_asked_for(tmp_path: Path) -> None:
    bench(Careful, pool="own")
    assert list(tmp_path.iterdir()) == []


def test_classes_factories_agents_and_functions_are_agents() -> None:
    class Plain:
        def answer(self, query: str) -> str:
            return query.upper()

    async def later(query: str) -> str:
        await asyncio.sleep(0)
        return query.upper()

    with_tools: list[int] = []

    def helped(query: str, tools: dict[str, juror.Tool]) -> str:
        with_tools.append(len(tools))
        return query.upper()

    wanted = answers(bench(Plain))
    assert wanted[0].startswith("WHAT IS THE WEATHER")
    for agent in (Plain(), lambda: Plain(), lambda query: query.upper(), later, lambda: later):
        assert answers(bench(agent, jobs=3)) == wanted
    assert answers(bench(helped, pool="top:2", jobs=3)) == wanted
    assert sorted(with_tools) == [1, 2, 2, 2]
    for wrong in (7, object(), "agent"):
        with pytest.raises(TypeError, match="method `answer`"):
            bench(wrong)


def test_one_agent_that_keeps_something_has_one_query_at_a_time() -> None:
    assert answers(bench(Careful(), pool="own"))[0]
    with pytest.raises(ValueError, match="give its class"):
        bench(Careful(), pool="own", jobs=2)


def test_an_agent_that_cannot_be_made_ends_the_run_before_it_begins() -> None:
    class Broken:
        def __init__(self) -> None:
            raise FileNotFoundError("no model")

    with pytest.raises(FileNotFoundError, match="no model"):
        bench(Broken, jobs=2)


def test_methods_are_called_in_order_and_reset_before_each_query() -> None:
    called: list[str] = []

    class Agent:
        def __init__(self) -> None:
            called.append("made")

        def setup_tools(self, tools: Any) -> None:
            called.append("setup_tools")

        def reset(self) -> None:
            called.append("reset")

        def answer(self, query: str) -> str:
            called.append("answer")
            return "x"

    bench(Agent, pool="own", limit=2)
    assert called == ["made", "setup_tools", "reset", "answer", "setup_tools", "reset", "answer"]
    called.clear()
    bench(Agent, pool="search", limit=2)
    assert called == ["made", "setup_tools", "reset", "answer", "reset", "answer"]


ANSWERS: list[tuple[Any, str | None, str | None]] = [
    ("plain", "plain", None),
    ({"final_answer": "of a dict", "other": 1}, "of a dict", None),
    ({"answer": {"final_answer": "of MASBench", "answer_details": []}, "called_apis": None}, "of MASBench", None),
    ({"final_answer": None}, "", None),
    ("half \ud800 and \ud83d\ude00", "half \ufffd and \U0001f600", None),
    ({"final_answer": "x", "answer_details": [float("nan"), {1}, Path("p")]}, "x", None),
    ({"error": "no model"}, None, "no model"),
    (None, None, "the agent returned nothing, which is not an answer"),
    (7, None, "the agent returned a value of type `int`, which is not an answer"),
    (["a"], None, "the agent returned a value of type `list`, which is not an answer"),
    ({}, None, "the dict that the agent returned has no `final_answer`"),
    # As of agents that are no Python objects: no part that cannot be read costs the others.
    ({"answer": "x"}, "x", None),
    ({"final_answer": 7}, "7", None),
    ({"final_answer": {"a": [1]}}, '{"a":[1]}', None),
    ({"final_answer": "x", "called_apis": "T"}, "x", None),
    ({"final_answer": "x", "called_apis": [["T"], {"tool": "T", "api": "A"}, 7]}, "x", None),
    ({"final_answer": "x", "answer_details": object()}, "x", None),
    ({"final_answer": "x", "tokens": object(), "usd": {(): 1}}, "x", None),
    ({"error": {"message": "no model"}}, None, "no model"),
    (
        {"final_answer": object()},
        None,
        "`final_answer` cannot be written as JSON: a value of type `object` cannot be written as JSON",
    ),
]


def test_a_part_of_an_answer_that_cannot_be_written_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "juror"):
        bench(lambda query: {"final_answer": "x", "answer_details": object()}, query_ids=[1])
    (record,) = (record for record in caplog.records if "left out" in record.getMessage())
    assert record.getMessage().startswith("a part of an agent's answer is left out: `answer_details` cannot be written")


@pytest.mark.parametrize(("said", "answer", "error"), ANSWERS)
def test_an_answer_is_a_text_or_a_dict(said: Any, answer: str | None, error: str | None, tmp_path: Path) -> None:
    result = bench(lambda query: said, query_ids=[1], run=tmp_path / "run")
    assert errors(result) == {"1": error}
    if error is None:
        assert (attempts(tmp_path / "run")[0]["final_answer"] or "") == answer


def test_a_run_without_tools_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = "there is no folder of tool files\n  hint: name it with `tools=`"
    with pytest.raises(juror.SettingsError, match=words):
        juror.bench(lambda query: "x", queries=EXAMPLES / "queries.json", judge="none", limit=1)


def test_calls_that_an_agent_claims_do_not_count(caplog: pytest.LogCaptureFixture) -> None:
    told = {"final_answer": "x", "called_apis": [("Garden Weather", "Current")]}
    (one,) = bench(lambda query: told, query_ids=[1])["results"]
    assert one["scores"]["api_call_score"] == 0.0
    assert one["system_answer"]["claimed_apis"] == [["Garden Weather", "Current"]]
    assert "1 of 1 answers claim other calls than those that arrived" in caplog.text


def test_what_goes_wrong_is_of_its_query_alone(caplog: pytest.LogCaptureFixture) -> None:
    class Odd(Exception):
        pass

    def agent(query: str) -> str:
        if "Thornfold right now" in query:
            raise Odd("the model is\nnot there")
        if "spleenwort" in query:
            sys.exit(3)
        if "twelve" in query:
            raise asyncio.CancelledError
        return "fine"

    with caplog.at_level(logging.ERROR, "juror"):
        result = bench(agent)
    assert errors(result) == {"1": "Odd: the model is\nnot there", "2": "SystemExit: 3", "3": "CancelledError", "4": None}
    assert "Traceback" in caplog.text and "Odd" in caplog.text
    assert result["summary"]["error_count"] == 3


def test_errors_in_setup_tools_and_reset_are_of_the_query() -> None:
    class Agent:
        def setup_tools(self, tools: dict[str, juror.Tool]) -> None:
            raise KeyError("no such tool")

        def answer(self, query: str) -> str:
            return "x"

    assert set(errors(bench(Agent, pool="own")).values()) == {"KeyError: 'no such tool'"}


def test_a_late_agent_is_left_alone_and_another_takes_its_place() -> None:
    made: list[Any] = []
    let_go = threading.Event()

    class Sleepy:
        def __init__(self) -> None:
            made.append(self)

        def answer(self, query: str) -> str:
            if "spleenwort" in query:
                let_go.wait(60)
            return "x"

    result = bench(Sleepy, timeout=0.5)
    let_go.set()
    assert errors(result) == {"1": None, "2": "no answer within 0.5 s", "3": None, "4": None}
    assert len(made) == 2


def test_a_late_coroutine_is_cancelled_and_its_agent_goes_on() -> None:
    ended: list[str] = []

    class Sleepy:
        made = 0

        def __init__(self) -> None:
            Sleepy.made += 1

        async def answer(self, query: str) -> str:
            try:
                await asyncio.sleep(60 if "spleenwort" in query else 0)
            except asyncio.CancelledError:
                ended.append(query)
                raise
            return "x"

    result = bench(Sleepy, timeout=0.5)
    assert errors(result) == {"1": None, "2": "no answer within 0.5 s", "3": None, "4": None}
    assert Sleepy.made == 1 and len(ended) == 1


def test_an_agent_without_async_may_run_loops_of_its_own() -> None:
    async def think(query: str) -> str:
        await asyncio.sleep(0)
        return "thought"

    assert answers(bench(lambda query: asyncio.run(think(query)))) == ["thought"] * 4


def test_tools_look_like_functions() -> None:
    seen: dict[str, juror.Tool] = {}

    def agent(query: str, tools: dict[str, juror.Tool]) -> str:
        seen.update(tools)
        return "x"

    bench(agent, pool="own")
    tool = next(tool for tool in seen.values() if tool.api_name == "Opening hours")
    assert (tool.category, tool.tool_name) == ("Travel", "Garden Visits")
    assert tool.name == tool.__name__ == tool.definition["function"]["name"] == "opening_hours_for_garden_visits"
    assert str(inspect.signature(tool)) == "(garden: str, date: str)"
    assert typing.get_type_hints(tool) == {"garden": str, "date": str}
    assert tool.__doc__ and tool.__doc__.startswith(tool.description) and "    garden (str)" in tool.__doc__
    assert tool.parameters["required"] == ["garden", "date"]
    with pytest.raises(RuntimeError, match="query of these tools has ended"):
        tool(garden="Thornfold", date="2026-05-01")


def test_replies_of_tools() -> None:
    said: list[Any] = []

    def agent(query: str, tools: juror.ToolPool) -> str:
        tool = tools["opening_hours_for_garden_visits"]
        hours = {"open": "09:00", "close": "18:30", "last_entry": "17:45"}
        assert tool("Thornfold", "2026-05-01") == tool(garden="Thornfold", date="2026-05-01") == hours
        assert tool.call({"garden": "Thornfold", "date": "2026-05-01"}) == {"error": "", "response": hours}
        said.append(tool(garden="Nowhere", date=None))
        with pytest.raises(TypeError, match="twice"):
            tool("Thornfold", garden="Thornfold")
        with pytest.raises(TypeError, match="2 arguments"):
            tool("a", "b", "c")
        with pytest.raises(TypeError, match="cannot be written as JSON"):
            tool(garden=object())
        return "x"

    result = bench(agent, query_ids=[1])
    assert errors(result) == {"1": None}
    # What an API says is wrong is a reply as well.
    (reply,) = said
    assert reply["error"] and reply["response"] == ""


def test_tools_inside_the_process_need_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    result = bench(Careful, pool="own")
    assert result["summary"]["average_api_call_score"] == 1.0


def test_a_pool_is_a_mapping_that_can_be_searched() -> None:
    def agent(query: str, tools: juror.ToolPool) -> str:
        assert len(tools) == len(list(tools)) == len(tools.keys())
        for name, tool in tools.items():
            assert tool.name == name and name in tools
        assert "nothing" not in tools and tools.get("nothing") is None
        found = tools.search_tools("weather at a garden", k=2)
        assert [tool.tool_name for tool in found] == ["Garden Weather"] * 2
        assert all(tools[tool.name].definition == tool.definition for tool in found)
        return "x"

    assert set(errors(bench(agent, jobs=2)).values()) == {None}


def test_calls_count_for_the_query_whose_tools_they_are(tmp_path: Path) -> None:
    def agent(query: str, tools: juror.ToolPool) -> str:
        tool = tools["current_for_garden_weather"]
        threads = [threading.Thread(target=tool, kwargs={"garden": query}) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "x"

    bench(agent, jobs=4, run=tmp_path / "run")
    for one in attempts(tmp_path / "run"):
        assert [call["tool_input"] for call in one["calls"]] == [{"garden": one["query"]}] * 5


def test_every_trial_has_an_agent_of_its_own(tmp_path: Path) -> None:
    class Agent:
        def __init__(self) -> None:
            self.known: list[str] = []

        def answer(self, query: str, trial: int = 0) -> str:
            assert query not in self.known
            self.known.append(query)
            return f"trial {trial}"

    seen: list[juror.QueryDone] = []
    result = bench(Agent, trials=3, jobs=2, run=tmp_path / "run", progress=seen.append)
    assert set(errors(result).values()) == {None}
    assert [one["trial"] for one in result["results"]] == [1, 2, 3] * 4
    assert answers(result) == ["trial 1", "trial 2", "trial 3"] * 4
    assert result["summary"]["total_queries"] == 4 and result["summary"]["total_evaluations"] == 12
    assert sorted(one["trial"] for one in attempts(tmp_path / "run")) == [1] * 4 + [2] * 4 + [3] * 4
    assert sorted(done.trial or 0 for done in seen) == [1] * 4 + [2] * 4 + [3] * 4
    assert "(trial 3)" in str(seen[-1])


def test_an_only_trial_is_not_mentioned() -> None:
    seen: list[juror.QueryDone] = []
    result = bench(lambda query, trial="none": trial, progress=seen.append)
    assert answers(result) == ["none"] * 4
    assert all("trial" not in one for one in result["results"])
    assert {done.trial for done in seen} == {None}


def test_a_query_with_very_many_calls_does_not_end_the_run(tmp_path: Path) -> None:
    def agent(query: str, tools: juror.ToolPool) -> str:
        for _ in range(1 if "spleenwort" in query else 700):
            tools["current_for_garden_weather"](garden="Thornfold")
        return "x"

    result = bench(agent, query_ids=[1, 2], output=tmp_path / "result.json")
    assert [one["scores"]["api_call_score"] for one in result["results"]] == [0.5, 0.0]
    assert result["juror"]["tool_replies"] == {"cache": 701}
    # The innermost part is left as text: Python reads nothing that deep.
    assert str(result).count("Garden Weather_Current") == 701


def test_progress_is_told_on_the_thread_that_waits(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[juror.QueryDone] = []
    threads: set[int] = set()

    def progress(done: juror.QueryDone) -> None:
        told.append(done)
        threads.add(threading.get_ident())

    bench(lambda query: "x", judge="heuristic", progress=progress)
    assert [done.n_done for done in told] == [1, 2, 3, 4]
    assert {done.query_id for done in told} == {"1", "2", "3", "4"}
    assert threads == {threading.get_ident()}
    assert told[0].status and told[0].sopr_score is not None and told[0].n_all == 4
    bench(lambda query: "x", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and lines[0].startswith("[1/4] API")

    def broken(done: juror.QueryDone) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench(lambda query: "x", progress=broken)


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    asked: list[str] = []

    def agent(query: str) -> str:
        asked.append(query)
        if len(asked) == 2:
            raise RuntimeError("once")
        return "x"

    folder = tmp_path / "run"
    first = bench(agent, run=folder)
    assert errors(first)["2"] == "RuntimeError: once" and len(asked) == 4
    with pytest.raises(juror.JurorError, match="this run is finished\n  hint: `fresh=`") as refused:
        bench(agent, run=folder)
    assert isinstance(refused.value, ValueError) and len(asked) == 4
    assert errors(bench(agent, run=folder, retry_errors=True))["2"] is None and len(asked) == 5
    with pytest.raises(juror.JurorError, match="pool changed\n.*`resume_changed=`"):
        bench(agent, run=folder, pool="own")
    assert errors(bench(agent, run=folder, pool="own", fresh=True))["2"] is None
    assert len(asked) == 9


class Named:
    """Answers with the model it was made for; stops the run at the second query once."""

    def __init__(self, model: str) -> None:
        self.model = model

    def answer(self, query: str) -> str:
        if STOPS.is_set() and next(N_ASKED) == 1:
            raise KeyboardInterrupt
        return self.model


STOPS, N_ASKED = threading.Event(), itertools.count()


def test_another_agent_or_environment_does_not_go_on_with_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"

    STOPS.set()
    with pytest.raises(KeyboardInterrupt):
        bench(Named("gpt"), run=folder, jobs=1)
    STOPS.clear()
    with pytest.raises(juror.JurorError, match=r"agent's own word \(value model\) changed"):
        bench(Named("claude"), run=folder)
    with monkeypatch.context() as changed:
        changed.setenv("MODEL", "claude")
        with pytest.raises(juror.JurorError, match=r"environment \(MODEL\) changed"):
            bench(Named("gpt"), run=folder)
    result = bench(Named("gpt"), run=folder)
    answers = {one["system_answer"]["final_answer"] for one in result["results"]}
    assert answers == {"gpt"} and result["juror"]["run"] == str(folder)
    text = (folder / "run.json").read_text()
    assert "gpt" not in text and json.loads(text)["is_complete"]


def test_a_run_keeps_its_results_and_settings_may_keep_every_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    result = bench(lambda query: "x", config={"runs": {"folder": str(runs)}}, limit=2)
    (folder,) = runs.iterdir()
    assert result["juror"]["run"] == str(folder)
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    kept = [json.loads(line) for line in lines]
    assert [one.pop("test_set") for one in kept] == ["queries"] * 2
    assert kept == result["results"]
    summary = json.loads((folder / "aggregates.json").read_text("utf-8"))
    assert summary["summary"] == result["summary"]
    manifest = json.loads((folder / "run.json").read_text("utf-8"))
    assert manifest["settings"]["runs"] == {"folder": str(runs)} and "command" not in manifest


def test_agents_are_told_apart_by_what_they_are_made_of() -> None:
    from juror._bench.identity import identity_of

    def asked(model: str) -> Any:
        return lambda query: model

    assert identity_of(asked("a")) == identity_of(asked("a")) != identity_of(asked("b"))
    assert identity_of(Named("a")) == identity_of(Named("a")) != identity_of(Named("b"))
    assert identity_of(functools.partial(Named, "a")) != identity_of(functools.partial(Named, "b"))
    told = Named("a")
    told.identity = {"seed": 5}  # type: ignore[attr-defined]
    assert identity_of(told) != identity_of(Named("a"))


def test_what_an_agent_reads_from_its_module_is_part_of_it(tmp_path: Path) -> None:
    from juror._bench.identity import identity_of

    def agent(text: str, name: str, **given: object) -> Any:
        file = tmp_path / "my_agent.py"
        file.write_text(text, "utf-8")
        linecache.checkcache()
        module: dict[str, Any] = {"__name__": "my_agent"}
        exec(compile(text, file, "exec"), module)
        module.update(given)
        return identity_of(module[name])

    text = "MODEL = 'gpt'\ndef helper(): return 1\ndef agent(query): return MODEL, helper()\n"
    one = agent(text, "agent")
    assert one == agent(text, "agent")
    assert one != agent(text.replace("return 1", "return 2"), "agent"), "a helper beside it"
    assert one != agent(text, "agent", MODEL="claude"), "a variable of its module"
    text = "MODEL = 'gpt'\nclass Agent:\n    def answer(self, query): return MODEL\n"
    assert agent(text, "Agent") != agent(text, "Agent", MODEL="claude")


def test_containers_count_and_keys_do_not() -> None:
    from juror._bench.identity import identity_of

    def of(**given: object) -> dict[str, str]:
        agent = Named("a")
        vars(agent).update(given)
        return identity_of(agent)

    assert of(options={"temperature": 0.7}) != of(options={"temperature": 0.2})
    assert of(options={"a": 1, "b": [2]}) == of(options={"b": [2], "a": 1})
    assert of(stops=["x"]) != of(stops=["y"])
    assert of(api_key="sk-1") == of(api_key="sk-2") == of(apiKey="sk-3") == of()
    assert of(options={"api_key": "sk-1"}) == of(options={"api_key": "sk-2"})
    assert of(max_tokens=1) != of(max_tokens=2)
    assert of(options={"x": object()}) == of(options={"x": object()})


def test_a_run_is_replaced_only_when_everything_is_ready(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    bench(lambda query: "first", run=folder)
    kept = (folder / "attempts.jsonl").read_bytes()

    class Broken:
        def __init__(self) -> None:
            raise ValueError("cannot be made")

    with pytest.raises(ValueError, match="cannot be made"):
        bench(Broken, run=folder, fresh=True)
    with pytest.raises(juror.JurorError, match="no tools are served"):
        bench(lambda query: "x", run=folder, fresh=True, server="http://127.0.0.1:1")
    assert kept and (folder / "attempts.jsonl").read_bytes() == kept


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"queries": "nowhere.json"}, FileNotFoundError, "nowhere.json"),
    ({"queries": EXAMPLES}, juror.JurorError, "which set"),
    ({"tools": None}, juror.JurorError, "name it with `tools=`"),
    ({"tools": "nowhere"}, juror.JurorError, "nowhere"),
    ({"pool": "some"}, juror.JurorError, "there is no pool `some`"),
    ({"judge": "me"}, juror.JurorError, "there is no judge `me`"),
    ({"jobs": 0}, ValueError, "`jobs` is a whole number"),
    ({"trials": 0}, ValueError, "`trials` is a whole number"),
    ({"trials": 65536}, ValueError, "`trials` is 65535 at most"),
    ({"limit": 1.5}, ValueError, "`limit` is a whole number"),
    ({"timeout": -1}, ValueError, "number of seconds"),
    ({"timeout": float("inf")}, ValueError, "number of seconds"),
    ({"query_ids": ["none"]}, juror.JurorError, "no query `none`"),
    ({"output": "nowhere/result.json"}, FileNotFoundError, "nowhere"),
    ({"config": {"tools": {"on_miss": "x"}}}, juror.SettingsError, "on_miss"),
    ({"refresh": True}, juror.JurorError, "nobody can be asked"),
    ({"progress": 7}, TypeError, "progress"),
]


@pytest.mark.parametrize(("options", "kind", "words"), REFUSED)
def test_what_is_asked_wrongly_is_refused_before_the_run(
    options: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        bench(lambda query: pytest.fail("asked"), **options)


def test_queries_and_settings_may_be_objects() -> None:
    queries = json.loads((EXAMPLES / "queries.json").read_text("utf-8"))
    settings = {"tools": {"folder": str(EXAMPLES / "tools"), "cache": [str(EXAMPLES / "tool_cache")]}}
    result = juror.bench(Careful, queries=queries, config=settings, pool="own", query_ids=[2, "3"])
    assert [one["query_id"] for one in result["results"]] == [2, 3]
    assert result["summary"]["average_api_call_score"] == 1.0


def test_from_a_running_loop() -> None:
    async def main() -> tuple[dict[str, Any], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        threads: set[int] = set()
        ticking = asyncio.create_task(tick())
        result = await juror.aio.bench(
            lambda query: time.sleep(0.1) or "x", **places(), progress=lambda _: threads.add(threading.get_ident())
        )
        ticking.cancel()
        assert threads == {threading.get_ident()}
        return result, ticks

    result, ticks = asyncio.run(main())
    assert errors(result) == dict.fromkeys("1234") and ticks > 5


def test_a_cancelled_run_keeps_what_was_done(tmp_path: Path) -> None:
    is_there = threading.Event()

    async def agent(query: str) -> str:
        if "spleenwort" in query:
            is_there.set()
            await asyncio.sleep(60)
        return "x"

    async def main() -> None:
        running = asyncio.create_task(juror.aio.bench(agent, **places(), run=tmp_path / "run"))
        await asyncio.to_thread(is_there.wait, 20)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert [one["query_id"] for one in attempts(tmp_path / "run")] == ["1"]


SLOW = """
import juror, signal, sys, time
# Whoever started the tests may have turned interrupts off.
signal.signal(signal.SIGINT, signal.default_int_handler)
def agent(query):
    if "spleenwort" in query:
        print("there", flush=True)
        time.sleep(60)
    return "x"
try:
    juror.bench(agent, queries=sys.argv[1], tools=sys.argv[2], run="run", output="result.json")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_ends_a_run_in_good_order(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLOW, str(EXAMPLES / "queries.json"), str(EXAMPLES / "tools")]
    path = os.pathsep.join(sys.path)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    assert child.stdout is not None and child.stdout.readline() == "there\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert (out, child.returncode) == ("interrupted\n", 0)
    assert [one["query_id"] for one in attempts(tmp_path / "run")] == ["1"]
    assert not (tmp_path / "result.json").exists(), "a run that was stopped has no results"


def test_an_agent_can_interrupt_the_run(tmp_path: Path) -> None:
    def agent(query: str) -> str:
        if "spleenwort" in query:
            raise KeyboardInterrupt
        return "x"

    with pytest.raises(KeyboardInterrupt):
        bench(agent, run=tmp_path / "run")
    assert [one["query_id"] for one in attempts(tmp_path / "run")] == ["1"]


@contextlib.contextmanager
def meeting_point(n_calls: int) -> Iterator[str]:
    """A server of tools in Python that answers when so many calls are there.

    While it works, whoever calls must have let go of the interpreter's lock.
    """
    all_there = threading.Barrier(n_calls)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            if not self.path.endswith("/virtual"):
                self.reply({"virtual": f"{self.path}/seal/virtual"})
                return
            all_there.wait(30)
            self.reply({"error": "", "response": self.path})

        def do_GET(self) -> None:
            self.reply({"calls": []})

        do_DELETE = do_GET

        def reply(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_calls_release_the_interpreter_lock() -> None:
    def agent(query: str, tools: juror.ToolPool) -> str:
        return str(tools["current_for_garden_weather"](garden="x"))

    with meeting_point(4) as server:
        result = bench(agent, server=server, jobs=4, name="slow")
    # A server that was there before knows the run by a name that no other has.
    paths = [re.sub(r"slow-[\w-]+/(.*)\.\d+/seal", r"slow/\1/seal", path) for path in answers(result)]
    assert paths == [f"/runs/slow/queries.{number}/seal/virtual" for number in range(1, 5)]


def test_awaited_calls_wait_side_by_side() -> None:
    async def agent(query: str, tools: juror.ToolPool) -> str:
        tool = tools["current_for_garden_weather"]
        replies = await asyncio.gather(*(tool.acall(garden=number) for number in range(40)))
        return str(set(replies))

    with meeting_point(40) as server:
        result = bench(agent, server=server, query_ids=[1], name="x")
    assert re.sub(r"x-[\w-]+/", "x/", answers(result)[0]) == "{'/runs/x/queries.1.1/seal/virtual'}"


def test_a_server_that_asks_for_a_token_is_brought_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def reply(self, value: Any) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            is_let_in = self.path == "/health" or self.headers["Authorization"] == "Bearer s-t0ken"
            body = json.dumps(value).encode()
            self.send_response(200 if is_let_in else 401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.reply({"error": "", "response": "dry", "virtual": f"{self.path}/seal/virtual"})

        def do_GET(self) -> None:
            self.reply({"calls": []})

        do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    def agent(query: str, tools: juror.ToolPool) -> str:
        return str(tools["current_for_garden_weather"](garden="x"))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        with pytest.raises(ValueError, match="asks for a token"):
            bench(agent, server=address, query_ids=[1])
        monkeypatch.setenv("TOKEN", "s-t0ken")
        result = bench(agent, server=address, server_token="env:TOKEN", query_ids=[1])
        server.shutdown()
    assert answers(result) == ["dry"]
    assert "s-t0ken" not in str(result)
