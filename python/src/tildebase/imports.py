"""Rows of an import in slices that each fit into a request, and the report about all of them. No input and no output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .problem import Problem
from .values import json_text

#: Rows of one request, and the length of their text: what every host imports well within its limits of time.
MOST_ROWS = 10_000
MOST_LENGTH = 4_194_304
#: Rows that a report names.
MOST_DETAILS = 10_000


class Row(NamedTuple):
    #: Its place among all rows.
    row: int
    text: str


def rows_of(values: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for row, value in enumerate(values):
        yield Row(row, f"{json_text(dict(value))}\n")


def slices_of(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """At least one slice, which may be empty."""
    part: list[Row] = []
    length = 0
    for row in rows:
        if len(part) >= MOST_ROWS or (part and length + len(row.text) > MOST_LENGTH):
            yield part
            part, length = [], 0
        part.append(row)
        length += len(row.text)
    yield part


class ImportReport:
    """The report of all rows, from those of the slices."""

    def __init__(self, most_details: int = MOST_DETAILS) -> None:
        self._most = most_details
        self._counts = {"imported": 0, "errors": 0}
        self._details: list[dict[str, Any]] = []
        self._warnings: dict[str, Any] = {}

    def add(self, rows: Sequence[Row], answer: Mapping[str, Any]) -> None:
        """Adds the report of a slice, which counts rows from the beginning of the slice."""
        for name in ("imported", "updated", "repeated", "errors"):
            if name in answer:
                self._counts[name] = self._counts.get(name, 0) + answer[name]
        for detail in answer.get("details", []):
            if len(self._details) < self._most:
                about = {name: value for name, value in detail.items() if name != "line"}
                self._details.append({**about, "row": rows[detail["row"]].row})
        for warning in answer.get("warnings", []):
            self._warnings[warning["field"]] = warning

    @property
    def value(self) -> dict[str, Any]:
        value = {"success": True, **self._counts, "details": sorted(self._details, key=lambda detail: int(detail["row"]))}
        if self._counts["errors"] > len(self._details):
            value["detailsTruncated"] = True
        if self._warnings:
            value["warnings"] = list(self._warnings.values())
        return value


def interrupted(problem: Problem) -> dict[str, Any] | None:
    """What an interrupted request has stored, as the service says when it gets the same key again."""
    if problem.code != "conflict" or problem.about.get("field") != "Idempotency-Key":
        return None
    return {"rows": 0, "imported": 0, "errors": 0, **problem.about}


def is_temporary(problem: Problem) -> bool:
    """Whether the same request may succeed later."""
    return problem.code in ("unreachable", "in_flight") or problem.status in (429, 503)
