# Written by python/generate.py. Do not edit.
"""A client of one tenant."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import httpx

from ..batch import BatchAnswer, Operations
from ..problem import Problem
from ..values import Entity, Event, Json, Page, Time, time_text
from ..wire import part
from .collection import Collection
from .transport import Transport

E = TypeVar("E", bound=Mapping[str, Any])

NDJSON = "application/x-ndjson"


class Tildebase:
    """A tenant: every type is an attribute, ``client.Contact``. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        tenant: str,
        api_key: str,
        base_url: str = "http://localhost:8787",
        *,
        retries: int = 4,
        timeout: float = 60.0,
        client: httpx.Client | None = None,
        wait_for_tasks: bool = True,
        on_task: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> None:
        """A write that takes long continues as a task. The client waits for its answer and calls ``on_task`` with the
        progress, or returns the task if ``wait_for_tasks`` is false."""
        self._transport = Transport(
            base_url,
            api_key,
            retries=retries,
            timeout=timeout,
            client=client,
            wait_for_tasks=wait_for_tasks,
            on_task=on_task,
        )
        self._root = f"/~{part(tenant)}"
        self.events = Events(self._transport, self._root)
        self.changesets = Changesets(self._transport, self._root)
        self.asks = Asks(self._transport, self._root)
        self.files = Files(self._transport, self._root)

    @property
    def context(self) -> str:
        """The namespace of the tenant: ``{base_url}/~{tenant}``."""
        return f"{self._transport.base_url}{self._root}"

    def of(self, model: type[E]) -> Collection[E]:
        """The collection of a model: ``client.of(models.Contact)``. Its entities have that type."""
        return Collection(self._transport, self._root, model.__name__)

    def __getattr__(self, name: str) -> Collection[Entity]:
        if name.startswith("_"):
            raise AttributeError(name)
        return Collection(self._transport, self._root, name)

    def batch(self, operations: Operations, *, atomic: bool = False) -> BatchAnswer:
        """Sends operations in one request: ``work = Operations(); work.Contact.create(…); client.batch(work)``."""
        body = {"atomic": atomic, "operations": operations.operations}
        return BatchAnswer(self._transport.json("POST", f"{self._root}/batch", body=body))

    def propose(self, title: str, *, reason: str | None = None) -> "Proposal":
        """A client whose writes are proposed as one changeset, for another key to approve."""
        return Proposal(self, title, reason)

    def import_rows(
        self,
        type: str,
        rows: Iterable[Mapping[str, Any]],
        *,
        upsert: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Json]:
        """Imports entities. ``upsert`` names the unique field by which known entities are updated."""
        content = "".join(f"{json.dumps(dict(row), ensure_ascii=False)}\n" for row in rows).encode()
        report: dict[str, Json] = self._transport.json(
            "POST",
            f"{self._root}/import/{part(type)}",
            query={"upsert": upsert, "dryRun": dry_run or None},
            content=content,
            headers={"content-type": NDJSON},
            once=True,
        )
        return report

    def export_rows(self, type: str, *, as_of: Time | None = None) -> Generator[Entity, None, None]:
        """Every entity of a type, one by one as they arrive."""
        rest = b""
        for chunk in self.export(type, format="ndjson", as_of=as_of):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield json.loads(line)

    def export(
        self, type: str, *, format: str = "ndjson", as_of: Time | None = None
    ) -> Generator[bytes, None, None]:
        """An export as bytes: ``ndjson``, ``json``, ``csv`` or ``parquet``."""
        query = {"format": format, "asOf": None if as_of is None else time_text(as_of)}
        response = self._transport.send(
            "GET", f"{self._root}/export/{part(type)}", query=query, headers={"accept": "*/*"}
        )
        try:
            for chunk in response.iter_bytes():
                yield chunk
        finally:
            response.close()

    def do(self, code: str, *, dry_run: bool = False) -> dict[str, Json]:
        """Runs code on the server. A dry run writes nothing and returns the events that it would write."""
        body = {"code": code, "dryRun": dry_run}
        answer: dict[str, Json] = self._transport.json("POST", f"{self._root}/do", body=body, once=True)
        return answer

    def undo(self, correlation: str) -> dict[str, Json]:
        """Undoes all writes of a request or a batch, by its correlation."""
        answer: dict[str, Json] = self._transport.json("POST", f"{self._root}/undo/{part(correlation)}", body={})
        return answer

    def status(self) -> dict[str, Json]:
        """The state of the tenant, and the rights of the key."""
        status: dict[str, Json] = self._transport.json("GET", f"{self._root}/status")
        return status

    def schema(self, type: str | None = None) -> dict[str, Json]:
        """The types as data; one of them by its name."""
        schema: dict[str, Json] = self._transport.json(
            "GET", f"{self._root}/schema" + ("" if type is None else f"/{part(type)}")
        )
        return schema

    def metrics(self, *, as_of: Time | None = None) -> dict[str, Json]:
        """The business metrics, now or at a time."""
        query = {"asOf": None if as_of is None else time_text(as_of)}
        metrics: dict[str, Json] = self._transport.json("GET", f"{self._root}/metrics", query=query)
        return metrics

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any other request below the tenant: ``request("GET", "/openapi.json")``."""
        return self._transport.json(method, f"{self._root}{path}", query=query, body=body)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Tildebase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Events:
    """The change stream of the tenant."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._path = f"{root}/events"

    def list(
        self,
        type: str = "*",
        *,
        since: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        wait: int | None = None,
    ) -> Page[Event]:
        """A page of events, oldest first, with the cursor to continue from."""
        query = {
            "type": type,
            "since": None if since is None else time_text(since),
            "limit": limit,
            "cursor": cursor,
            "wait": wait,
        }
        return Page.of(self._transport.json("GET", self._path, query=query))

    def stream(
        self, type: str = "*", *, since: Time | None = None, last_event_id: int | str | None = None
    ) -> Generator[Event, None, None]:
        """Events as they happen. Reconnects automatically, without lost or repeated events."""
        start = None if since is None else time_text(since)
        last = None if last_event_id is None else str(last_event_id)
        for message in self._transport.follow(
            self._path, lambda seen: {"type": type, "since": start if seen is None else None}, last
        ):
            yield json.loads(message.data)


class Changesets:
    """Proposals: to read, to decide, to discuss."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._root = f"{root}/changesets"

    def get(self, id: str) -> dict[str, Json]:
        """A changeset with its operations, its diff against the current state, and its conflicts."""
        review: dict[str, Json] = self._transport.json("GET", f"{self._root}/{part(id)}")
        return review

    def effect(self, id: str) -> dict[str, Json]:
        """What an open changeset would change in numbers."""
        effect: dict[str, Json] = self._transport.json("GET", f"{self._root}/{part(id)}/effect")
        return effect

    def approve(self, id: str, operations: Sequence[int] | None = None) -> dict[str, Json]:
        """Runs the operations, or those that are named."""
        return self._run(id, "approve", {"operations": operations})

    def reject(self, id: str, reason: str | None = None) -> dict[str, Json]:
        return self._run(id, "reject", {"reason": reason})

    def comment(self, id: str, text: str) -> dict[str, Json]:
        return self._run(id, "comment", {"text": text})

    def rebase(self, id: str, keep: Sequence[int] | None = None) -> dict[str, Json]:
        """Treats the operations as if they were proposed now, and drops those that are not kept."""
        return self._run(id, "rebase", {"keep": keep})

    def from_fork(
        self, fork: str, *, title: str | None = None, reason: str | None = None, key: str | None = None
    ) -> dict[str, Json]:
        """Creates one from what a fork of this tenant did. ``key`` is a key of the fork, unless yours opens it too."""
        given = {"from": fork, "title": title, "reason": reason, "key": key}
        body = {name: value for name, value in given.items() if value is not None}
        review: dict[str, Json] = self._transport.json("POST", self._root, body=body)
        return review

    def _run(self, id: str, verb: str, body: Mapping[str, Any]) -> dict[str, Json]:
        known = {name: value for name, value in body.items() if value is not None}
        changeset: dict[str, Json] = self._transport.json("POST", f"{self._root}/{part(id)}/{verb}", body=known)
        return changeset


class Asks:
    """Questions of workflows that wait for people."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._root = f"{root}/asks"

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> dict[str, Json]:
        """Those that wait for you or for your role, the oldest first."""
        query = {"limit": limit, "cursor": cursor}
        page: dict[str, Json] = self._transport.json("GET", self._root, query=query)
        return page

    def get(self, id: str) -> dict[str, Json]:
        ask: dict[str, Json] = self._transport.json("GET", f"{self._root}/{part(id)}")
        return ask

    def answer(self, id: str, answer: str, fields: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Answers ``Approved`` or ``Rejected``. A key needs the scope ``approve:own``."""
        body: dict[str, Any] = {"answer": answer}
        if fields is not None:
            body["fields"] = fields
        ask: dict[str, Json] = self._transport.json("POST", f"{self._root}/{part(id)}/answer", body=body)
        return ask


class Files:
    """Content that no entity holds yet."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._path = f"{root}/files"

    def upload(self, content: bytes, *, name: str, type: str = "application/octet-stream") -> dict[str, Json]:
        """Stores content, and answers the value for a field of kind file. Unused content is removed after a day."""
        value: dict[str, Json] = self._transport.json(
            "POST", self._path, query={"name": name}, content=content, headers={"content-type": type}
        )
        return value


class Proposal:
    """A client whose writes go into one changeset. Reads see the present."""

    def __init__(self, client: Tildebase, title: str, reason: str | None) -> None:
        self._client = client
        self._wire = _ProposingTransport(client._transport, title, reason)

    def __getattr__(self, name: str) -> Collection[Entity]:
        if name.startswith("_"):
            raise AttributeError(name)
        return Collection(self._wire, self._client._root, name)

    def review(self) -> dict[str, Json] | None:
        """The changeset with its diff; None when nothing was written."""
        return None if self._wire.changeset is None else self._client.changesets.get(self._wire.changeset)


class _ProposingTransport(Transport):
    def __init__(self, transport: Transport, title: str, reason: str | None) -> None:
        self.base_url = transport.base_url
        self.changeset: str | None = None
        self._inner = transport
        self._title = title
        self._reason = reason

    def json(self, method: str, path: str, **sending: Any) -> Any:
        operations = (sending.get("body") or {}).get("operations")
        if method == "GET" or (operations and all(one.get("method") == "GET" for one in operations)):
            return self._inner.json(method, path, **sending)
        first = {"propose": self._title, "reason": self._reason}
        query = {**(sending.pop("query", None) or {}), **({"propose": self.changeset} if self.changeset else first)}
        answer = self._inner.json(method, path, query=query, **sending)
        self.changeset = answer["$id"]
        return answer.get("preview")

    def send(self, method: str, path: str, **sending: Any) -> httpx.Response:
        if method == "GET":
            return self._inner.send(method, path, **sending)
        raise Problem("invalid_operation", "Streams cannot be proposed. Create the entities one by one, or in a batch.")
