"""Several operations in one request. Nothing is sent here: the client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .problem import Problem, problem_in
from .values import Filter, get_query, list_query
from .wire import part


class Ref(dict[str, str]):
    """A value that an earlier step of the batch will give."""


class Step:
    """One operation. Its items are references to those of its result: ``ada["$id"]``."""

    def __init__(self, id: str) -> None:
        self.id = id

    def __getitem__(self, path: str) -> Ref:
        return Ref({"$ref": self.id, "path": path})


class Operations:
    """The operations of a batch, by type: ``batch.Contact.create({"name": "Ada"})``."""

    def __init__(self) -> None:
        self.operations: list[dict[str, Any]] = []

    def __getattr__(self, type: str) -> "Writer":
        if type.startswith("_"):
            raise AttributeError(type)
        return Writer(self, type)

    def add(self, method: str, path: str, **more: Any) -> Step:
        step = Step(f"step{len(self.operations) + 1}")
        self.operations.append({"id": step.id, "method": method, "path": path, **more})
        return step


class Writer:
    """The methods of one type; each adds one operation."""

    def __init__(self, operations: Operations, type: str) -> None:
        self._operations = operations
        self._path = part(type)

    def find(self, filter: Filter | None = None, **options: Any) -> Step:
        return self._operations.add("GET", self._path, query=_known(list_query(filter, **options)))

    def get(self, id: str | Ref, **options: Any) -> Step:
        return self._operations.add("GET", f"{self._path}/{_id_text(id)}", query=_known(get_query(**options)))

    def create(self, draft: Mapping[str, Any]) -> Step:
        return self._operations.add("POST", self._path, body=dict(draft))

    def run(self, id: str | Ref, verb: str, args: Mapping[str, Any] | None = None) -> Step:
        return self._operations.add("POST", f"{self._path}/{_id_text(id)}/{part(verb)}", body=dict(args or {}))

    def __getattr__(self, verb: str) -> Any:
        if verb.startswith("_"):
            raise AttributeError(verb)
        return lambda id, args=None: self.run(id, verb, args)


class BatchAnswer:
    """What became of a batch."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.results: list[dict[str, Any]] = answer["results"]
        self.correlation: str | None = answer.get("correlation")

    def of(self, step: Step) -> Any:
        """The result of one step; its Problem is raised when it failed."""
        for result in self.results:
            if result["id"] == step.id:
                if result["status"] >= 300:
                    raise problem_in(result["body"], result["status"])
                return result["body"]
        raise Problem("unknown_step", "This step does not belong to this batch.")


def _known(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _id_text(id: str | Ref) -> str:
    return part(id) if isinstance(id, str) else f"${{{id['$ref']}.{id['path']}}}"
