"""Runs the scenarios of the TypeScript client through the sync and the async client of Python.

    python3 scenarios.py <url> <key> <scenarios.json>
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
import time
import unittest
from pathlib import Path
from typing import Any

from tildebase import AsyncTildebase, Operations, Page, Problem, Tildebase

URL, KEY, FILE = sys.argv[1:4]
OPTIONS = {"asOf": "as_of", "ifVersion": "if_version", "idempotencyKey": "idempotency_key", "dryRun": "dry_run"}
OPTIONS |= {"lastEventId": "last_event_id"}
#: How many arguments come before the options.
POSITIONS = {"get": 1, "history": 1, "rollback": 1, "create": 1, "find": 1, "findOne": 1, "all": 1, "live": 1, "count": 1}
POSITIONS |= {"list": 0, "stream": 0, "do": 1, "update": 2}


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


def filled(value: Any, saved: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [filled(one, saved) for one in value]
    if isinstance(value, dict):
        return {name: filled(one, saved) for name, one in value.items()}
    found = re.fullmatch(r"\{([\w.$]+)\}", value) if isinstance(value, str) else None
    if not found:
        return value
    part: Any = saved
    for name in found[1].split("."):
        if isinstance(part, Page) and not name.isdigit():
            part = getattr(part, name)
        else:
            part = part[int(name)] if name.isdigit() else part[name]
    return part


def lacks(expected: Any, value: Any, path: str = "answer") -> list[str]:
    """What is expected and not there. Lists have exactly the expected elements."""
    if isinstance(expected, dict):
        if not hasattr(value, "keys"):
            return [f"{path} is {value!r}"]
        return [fault for name, one in expected.items() for fault in lacks(one, value.get(name), f"{path}.{name}")]
    if isinstance(expected, list):
        if len(expected) != len(value):
            return [f"{path} has {len(value)} elements, not {len(expected)}"]
        return [fault for i, one in enumerate(expected) for fault in lacks(one, value[i], f"{path}.{i}")]
    return [] if expected == value else [f"{path} is {value!r}, not {expected!r}"]


def with_refs(value: Any, made: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        if "step" in value:
            return made[value["step"]][value["path"]]
        return {name: with_refs(one, made) for name, one in value.items()}
    return value


def python_call(step: dict[str, Any], args: list[Any]) -> tuple[str, list[Any], dict[str, Any]]:
    """The call as Python has it: options are keyword arguments, names have underscores."""
    _, _, method = step["do"].rpartition(".")
    if method == "aggregate":
        return "aggregate", args[1:], args[0]
    most = POSITIONS.get(method)
    options = args[most] if most is not None and len(args) > most else {}
    if method == "request" and len(args) > 2:
        args, options, most = args[:2], args[2], 2
    named = {OPTIONS.get(name, name): one for name, one in options.items()}
    return snake(method), args if most is None else args[:most], named


class Runner:
    """Runs steps. Subclasses know how to wait for an answer."""

    async def value(self, answer: Any, take: int | None) -> Any:
        raise NotImplementedError

    def client(self, tenant: str, key: str) -> Any:
        raise NotImplementedError

    async def run(self, tenant: str, steps: list[dict[str, Any]]) -> list[str]:
        saved: dict[str, Any] = {}
        faults: list[str] = []
        for step in steps:
            if "wait" in step:
                time.sleep(step["wait"] / 1000)
                continue
            client = self.client(tenant, filled(step.get("key", KEY), saved))
            try:
                answer = await self.call(client, step, filled(step["args"], saved))
            except Problem as problem:
                answer = {"code": problem.code, "about": problem.about, "message": problem.message}
                if "fails" not in step:
                    faults.append(f"{step['do']}: {problem}")
            expected = step.get("fails", step.get("expect", ...))
            if expected is not ...:
                faults += [f"{step['do']}: {one}" for one in lacks(filled(expected, saved), answer)]
            if "size" in step and len(answer) != step["size"]:
                faults.append(f"{step['do']}: {len(answer)} elements")
            if "save" in step:
                saved[step["save"]] = answer
            await self.value(client.close(), None)
        return faults

    async def call(self, client: Any, step: dict[str, Any], args: list[Any]) -> Any:
        name = step["do"]
        if name == "batch":
            return await self.batch(client, args[0], **args[1])
        if name == "propose":
            proposal = client.propose(args[0])
            for type, verb, *rest in args[1]:
                await self.value(getattr(getattr(proposal, type), verb)(*rest), None)
            return await self.value(proposal.review(), None)
        owner, _, _ = name.rpartition(".")
        method, positional, named = python_call(step, args)
        target = getattr(client, owner) if owner else client
        return await self.value(getattr(target, method)(*positional, **named), step.get("take"))

    async def batch(self, client: Any, steps: list[Any], atomic: bool) -> Any:
        operations, made = Operations(), {}
        for name, type, verb, *args in steps:
            made[name] = getattr(getattr(operations, type), verb)(*(with_refs(one, made) for one in args))
        done = await self.value(client.batch(operations, atomic=atomic), None)
        return {**{name: done.of(step) for name, step in made.items()}, "correlation": done.correlation}


class SyncRunner(Runner):
    def client(self, tenant: str, key: str) -> Any:
        return Tildebase(tenant, key, URL)

    async def value(self, answer: Any, take: int | None) -> Any:
        if not inspect.isgenerator(answer):
            return answer
        items = []
        for item in answer:
            items.append(item)
            if len(items) == take:
                break
        answer.close()
        return items


class AsyncRunner(Runner):
    def client(self, tenant: str, key: str) -> Any:
        return AsyncTildebase(tenant, key, URL)

    async def value(self, answer: Any, take: int | None) -> Any:
        if inspect.isawaitable(answer):
            return await answer
        items = []
        async for item in answer:
            items.append(item)
            if len(items) == take:
                break
        await answer.aclose()
        return items


class Scenarios(unittest.TestCase):
    pass


for index, scenario in enumerate(json.loads(Path(FILE).read_text())):
    for kind, runner in (("sync", SyncRunner()), ("async", AsyncRunner())):

        def case(self: Any, runner: Runner = runner, tenant: str = f"{kind}{index}", steps: Any = scenario["steps"]) -> None:
            self.assertEqual(asyncio.run(runner.run(tenant, steps)), [])

        setattr(Scenarios, f"test_{kind}_{scenario['title'].replace(' ', '_')}", case)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
