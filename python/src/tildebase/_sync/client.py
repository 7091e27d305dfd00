# Written by python/generate.py. Do not edit.
"""A client of one tenant."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeVar

import httpx

from ..batch import BatchAnswer, Operations
from ..values import AsOf, Entity, Event, Json, Page, Time, as_of_text, time_text
from ..wire import part
from .auth import Auth, key_auth
from .changesets import Changesets, Proposal
from .collection import Collection
from .files import Files
from .imports import Import
from .transport import Transport

E = TypeVar("E", bound=Mapping[str, Any])


class Tildebase:
    """A tenant: every type is an attribute, ``client.Contact``. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        tenant: str,
        api_key: str | None = None,
        base_url: str = "http://localhost:8787",
        *,
        auth: Auth | None = None,
        retries: int = 4,
        timeout: float = 60.0,
        client: httpx.Client | None = None,
        wait_for_tasks: bool = True,
        on_task: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> None:
        """Give an API key, or the ``auth`` of a sign-in. A write that takes long continues as a task. The client waits for its answer and calls ``on_task`` with the
        progress, or returns the task if ``wait_for_tasks`` is false."""
        self._transport = Transport(
            base_url,
            auth or key_auth(api_key),
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
        self.runs = Runs(self._transport, self._root)
        self.proof = Proofs(self._transport, self._root)

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

    def propose(self, title: str, *, reason: str | None = None) -> Proposal:
        """A client whose writes are proposed as one changeset, for another key to approve."""
        return Proposal(self._transport, self._root, title, reason)

    def import_rows(
        self,
        type: str,
        rows: Iterable[Mapping[str, Any]],
        *,
        upsert: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Json]:
        """Imports any number of entities. ``upsert`` names the unique field by which known entities are updated."""
        query = {"upsert": upsert, "dryRun": dry_run or None}
        return Import(self._transport, f"{self._root}/import/{part(type)}", query).send(rows)

    def import_history(self, changes: Iterable[Mapping[str, Any]]) -> dict[str, Json]:
        """Imports past changes in the order of time, each with ``type``, ``verb``, ``timestamp``, ``data``, and an ``id`` or
        a ``source``. They become events of the times at which they happened."""
        return Import(self._transport, f"{self._root}/import/history").send(changes)

    def export_rows(self, type: str, *, as_of: AsOf | None = None) -> Generator[Entity, None, None]:
        """Every entity of a type, one by one as they arrive."""
        rest = b""
        for chunk in self.export(type, format="ndjson", as_of=as_of):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield json.loads(line)

    def export(
        self, type: str, *, format: str = "ndjson", as_of: AsOf | None = None
    ) -> Generator[bytes, None, None]:
        """An export as bytes: ``ndjson``, ``json``, ``csv`` or ``parquet``."""
        query = {"format": format, "asOf": None if as_of is None else as_of_text(as_of)}
        for chunk in self._transport.chunks(f"{self._root}/export/{part(type)}", query):
            yield chunk

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

    def metrics(self, *, as_of: AsOf | None = None) -> dict[str, Json]:
        """The business metrics, now or at a time."""
        query = {"asOf": None if as_of is None else as_of_text(as_of)}
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


class Runs:
    """The runs of workflows."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._root = f"{root}/Workflow"

    def list(
        self, workflow: str, *, status: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Json]]:
        """The runs of a workflow, newest first, without their steps."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return Page.of(self._transport.json("GET", f"{self._root}/{part(workflow)}/runs", query=query))

    def get(self, workflow: str, run: str) -> dict[str, Json]:
        """One run with its steps."""
        found: dict[str, Json] = self._transport.json("GET", self._at(workflow, run))
        return found

    def retry(self, workflow: str, run: str) -> dict[str, Json]:
        """Runs a failed run again, from the step that failed."""
        again: dict[str, Json] = self._transport.json("POST", f"{self._at(workflow, run)}/retry", body={})
        return again

    def cancel(self, workflow: str, run: str) -> dict[str, Json]:
        """Ends a run that waits or is in progress."""
        ended: dict[str, Json] = self._transport.json("POST", f"{self._at(workflow, run)}/cancel", body={})
        return ended

    def _at(self, workflow: str, run: str) -> str:
        return f"{self._root}/{part(workflow)}/runs/{part(run)}"


class Proofs:
    """Signed checkpoints of the log, and proofs of its events."""

    def __init__(self, transport: Transport, root: str) -> None:
        self._transport = transport
        self._root = root

    def checkpoint(self) -> dict[str, Json]:
        checkpoint: dict[str, Json] = self._transport.json("GET", f"{self._root}/checkpoint")
        return checkpoint

    def event(self, id: str | int, *, size: int | None = None) -> dict[str, Json]:
        """The proof of an event, by its id or its seq; in the log of an earlier size when one is given."""
        proof: dict[str, Json] = self._transport.json("GET", self._at(id), query={"size": size})
        return proof

    def page(self, id: str | int) -> str:
        """The same as a page that checks itself without a network."""
        chunks = self._transport.chunks(self._at(id), {"format": "html"})
        return b"".join([chunk for chunk in chunks]).decode()

    def consistency(self, start: int, end: int | None = None) -> dict[str, Json]:
        """Proves that the log of one size is the beginning of a later one; that of now unless given."""
        query = {"from": start, "to": end}
        proof: dict[str, Json] = self._transport.json("GET", f"{self._root}/consistency", query=query)
        return proof

    def _at(self, id: str | int) -> str:
        return f"{self._root}/proof/{part(str(id))}"
