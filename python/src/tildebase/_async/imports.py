"""Imports of any length, slice by slice."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..imports import ImportReport, Row, interrupted, is_temporary, rows_of, slices_of
from ..problem import Problem
from ..values import Json
from .transport import AsyncTransport

NDJSON = "application/x-ndjson"
#: So often a slice is sent without an answer, about a minute and a half.
MOST_FAILURES = 10
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0


class AsyncImport:
    """An import. A slice whose answer was lost is sent again under its key, so no row is imported twice."""

    def __init__(
        self,
        transport: AsyncTransport,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        failures: int = MOST_FAILURES,
        report: ImportReport | None = None,
    ) -> None:
        self._transport = transport
        self._path = path
        self._query = query or {}
        self._failures = failures
        self._report = report or ImportReport()

    async def send(self, values: Iterable[Mapping[str, Any]]) -> dict[str, Json]:
        """Imports all values. A Problem has the report about those that were imported before."""
        try:
            await self._send_all(values)
        except Problem as problem:
            about = {**problem.about, **self._report.value, "success": False}
            raise Problem(problem.code, problem.message, about) from problem
        return self._report.value

    async def _send_all(self, values: Iterable[Mapping[str, Any]]) -> None:
        waiting: list[Row] = []
        held: list[Row] | None = None
        is_only = True
        for rows in slices_of(rows_of(values)):
            if held is not None:
                is_only = False
                waiting += await self._send_slice(held, True)
            held = rows
        waiting += await self._send_slice(held or [], not is_only)
        # Rows that refer to rows which came later, until a pass stores none of them. The rest is refused.
        is_last = False
        while waiting:
            left: list[Row] = []
            for rows in slices_of(waiting):
                left += await self._send_slice(rows, not is_last)
            is_last = len(left) == len(waiting)
            waiting = left

    async def _send_slice(self, rows: Sequence[Row], more: bool) -> list[Row]:
        """Returns the rows that refer to others which have not come."""
        waiting: list[Row] = []
        rest = rows
        while True:
            answer = await self._post(rest, more)
            self._report.add(rest, answer)
            waiting += [rest[row] for row in answer.get("waiting", [])]
            rest = rest[answer["rows"] :] if "rows" in answer else []
            if not rest:
                return waiting

    async def _post(self, rows: Sequence[Row], more: bool) -> Mapping[str, Any]:
        """The answer to a slice; with ``rows`` when it was interrupted after so many of them."""
        key = secrets.token_hex(16)
        failures = 0
        while True:
            try:
                answer: dict[str, Any] = await self._transport.json(
                    "POST",
                    self._path,
                    query={**self._query, "more": more or None},
                    content="".join(row.text for row in rows).encode(),
                    headers={"content-type": NDJSON, "idempotency-key": key},
                )
                return answer
            except Problem as problem:
                stored = interrupted(problem)
                if stored is not None:
                    return stored
                failures += 1
                if not is_temporary(problem) or failures > self._failures:
                    raise
            await asyncio.sleep(min(FIRST_PAUSE * 2.0**failures, LONGEST_PAUSE))
