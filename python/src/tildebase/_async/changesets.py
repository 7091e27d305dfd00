"""Changes that wait for the approval of another key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ..problem import Problem
from ..values import Entity, Json
from ..wire import part
from .collection import AsyncCollection
from .transport import AsyncTransport


class AsyncChangesets:
    """Proposals: to read, to decide, to discuss."""

    def __init__(self, transport: AsyncTransport, root: str) -> None:
        self._transport = transport
        self._root = f"{root}/changesets"

    async def get(self, id: str) -> dict[str, Json]:
        """A changeset with its operations, its diff against the current state, and its conflicts."""
        review: dict[str, Json] = await self._transport.json("GET", f"{self._root}/{part(id)}")
        return review

    async def effect(self, id: str) -> dict[str, Json]:
        """What an open changeset would change in numbers."""
        effect: dict[str, Json] = await self._transport.json("GET", f"{self._root}/{part(id)}/effect")
        return effect

    async def approve(self, id: str, operations: Sequence[int] | None = None) -> dict[str, Json]:
        """Runs the operations, or those that are named."""
        return await self._run(id, "approve", {"operations": operations})

    async def reject(self, id: str, reason: str | None = None) -> dict[str, Json]:
        return await self._run(id, "reject", {"reason": reason})

    async def comment(self, id: str, text: str) -> dict[str, Json]:
        return await self._run(id, "comment", {"text": text})

    async def rebase(self, id: str, keep: Sequence[int] | None = None) -> dict[str, Json]:
        """Treats the operations as if they were proposed now, and drops those that are not kept."""
        return await self._run(id, "rebase", {"keep": keep})

    async def from_fork(
        self, fork: str, *, title: str | None = None, reason: str | None = None, key: str | None = None
    ) -> dict[str, Json]:
        """Creates one from what a fork of this tenant did. ``key`` is a key of the fork, unless yours opens it too."""
        given = {"from": fork, "title": title, "reason": reason, "key": key}
        body = {name: value for name, value in given.items() if value is not None}
        review: dict[str, Json] = await self._transport.json("POST", self._root, body=body)
        return review

    async def _run(self, id: str, verb: str, body: Mapping[str, Any]) -> dict[str, Json]:
        known = {name: value for name, value in body.items() if value is not None}
        changeset: dict[str, Json] = await self._transport.json("POST", f"{self._root}/{part(id)}/{verb}", body=known)
        return changeset


class AsyncProposal:
    """A client whose writes go into one changeset. Reads see the present."""

    def __init__(self, transport: AsyncTransport, root: str, title: str, reason: str | None) -> None:
        self._root = root
        self._changesets = AsyncChangesets(transport, root)
        self._transport = _ProposingTransport(transport, title, reason)

    def __getattr__(self, name: str) -> AsyncCollection[Entity]:
        if name.startswith("_"):
            raise AttributeError(name)
        return AsyncCollection(self._transport, self._root, name)

    async def review(self) -> dict[str, Json] | None:
        """The changeset with its diff; None when nothing was written."""
        id = self._transport.changeset
        return None if id is None else await self._changesets.get(id)


class _ProposingTransport(AsyncTransport):
    def __init__(self, transport: AsyncTransport, title: str, reason: str | None) -> None:
        self.base_url = transport.base_url
        self.changeset: str | None = None
        self._inner = transport
        self._title = title
        self._reason = reason

    async def json(self, method: str, path: str, **sending: Any) -> Any:
        operations = (sending.get("body") or {}).get("operations")
        if method == "GET" or (operations and all(one.get("method") == "GET" for one in operations)):
            return await self._inner.json(method, path, **sending)
        first = {"propose": self._title, "reason": self._reason}
        query = {**(sending.pop("query", None) or {}), **({"propose": self.changeset} if self.changeset else first)}
        answer = await self._inner.json(method, path, query=query, **sending)
        self.changeset = answer["$id"]
        return answer.get("preview")

    async def send(self, method: str, path: str, **sending: Any) -> httpx.Response:
        # Bytes in pieces change nothing until a write names them.
        if method == "GET" or "tus-resumable" in (sending.get("headers") or {}):
            return await self._inner.send(method, path, **sending)
        raise Problem("invalid_operation", "Streams cannot be proposed. Create the entities one by one, or in a batch.")
