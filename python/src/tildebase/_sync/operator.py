# Written by python/generate.py. Do not edit.
"""What the operator of a service does with whole tenants."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from ..content import Content, Source
from ..values import AsOf, Json, Page, as_of_text
from ..wire import part
from .auth import key_auth
from .transport import Transport


class Operator:
    """A client of the operator: ``operator.tenants.create("acme")``. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        root_key: str,
        base_url: str = "http://localhost:8787",
        *,
        retries: int = 4,
        timeout: float = 600.0,
        client: httpx.Client | None = None,
    ) -> None:
        """``root_key`` is ``TILDE_ROOT_KEY``, or the content of ``root.key``."""
        self._transport = Transport(base_url, key_auth(root_key), retries=retries, timeout=timeout, client=client)
        self.tenants = Tenants(self._transport)

    def log(self, *, limit: int | None = None, cursor: str | None = None) -> Page[dict[str, Json]]:
        """The actions of the operator, newest first."""
        return Page.of(self._transport.json("GET", "/operator/log", query={"limit": limit, "cursor": cursor}))

    def rotate_signing_key(self) -> dict[str, Json]:
        """Signs checkpoints with a new key from now on."""
        key: dict[str, Json] = self._transport.json("POST", "/operator/signing-key", body={})
        return key

    def describe(self) -> dict[str, Json]:
        """The OpenAPI document of these endpoints."""
        document: dict[str, Json] = self._transport.json("GET", "/operator/openapi.json")
        return document

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any other request: ``request("GET", "/operator/cluster")``."""
        return self._transport.json(method, path, query=query, body=body)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Operator":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Tenants:
    """All tenants of a service."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, limit: int | None = None, offset: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Json]]:
        query = {"limit": limit, "offset": offset, "cursor": cursor}
        return Page.of(self._transport.json("GET", "/operator/tenants", query=query))

    def create(self, tenant: str) -> dict[str, Json]:
        """Creates an empty tenant."""
        return self._post("/operator/tenants", {"tenant": tenant})

    def get(self, tenant: str) -> dict[str, Json]:
        """Its events, entities, times and size."""
        info: dict[str, Json] = self._transport.json("GET", _at(tenant))
        return info

    def delete(self, tenant: str) -> None:
        """Deletes a tenant permanently."""
        self._transport.json("DELETE", _at(tenant))

    def create_key(self, tenant: str, key: Mapping[str, Any]) -> dict[str, Json]:
        """Creates an API key of a tenant, such as its first one. The answer has its ``secret``."""
        return self._post(f"/~{part(tenant)}/ApiKey", key)

    def verify(self, tenant: str) -> dict[str, Json]:
        """Verifies the file, the chain of the log and all that is made from it."""
        verdict: dict[str, Json] = self._transport.json("GET", _at(tenant, "/verify"))
        return verdict

    def tasks(self, tenant: str | None = None) -> Page[dict[str, Json]]:
        """The tasks in progress with a tenant, or with all of them."""
        path = "/operator/tasks" if tenant is None else _at(tenant, "/tasks")
        return Page.of(self._transport.json("GET", path))

    def fork(self, tenant: str, to: str, *, as_of: AsOf | None = None) -> dict[str, Json]:
        """Makes another tenant of a tenant, as it is or as it was."""
        body = {"to": to} if as_of is None else {"to": to, "asOf": as_of_text(as_of)}
        return self._post(_at(tenant, "/fork"), body)

    def release(self, tenant: str) -> dict[str, Json]:
        """Ends the quarantine of a tenant."""
        return self._post(_at(tenant, "/release"))

    def backup(self, tenant: str, to: str | os.PathLike[str]) -> None:
        """Writes a copy of the database of a tenant. A file of that name is replaced once the copy is complete."""
        unfinished = Path(f"{os.fspath(to)}.part")
        try:
            with unfinished.open("wb") as file:
                for chunk in self._transport.chunks(_at(tenant, "/backup")):
                    file.write(chunk)
            os.replace(unfinished, to)
        finally:
            unfinished.unlink(missing_ok=True)

    def restore(self, tenant: str, file: Source) -> dict[str, Json]:
        """Restores a tenant from the file of a backup: ``restore("acme", open("acme.db", "rb"))``."""
        return self._put(_at(tenant, "/restore"), "application/vnd.sqlite3", file)

    def read_log(
        self, tenant: str, *, after: int | None = None, wait: int | None = None
    ) -> Generator[bytes, None, None]:
        """The log of a tenant, one event per line, as it arrives."""
        return self._transport.chunks(_at(tenant, "/log"), {"after": after, "wait": wait})

    def replay_log(self, tenant: str, lines: Source) -> dict[str, Json]:
        """Restores a tenant from a log."""
        return self._put(_at(tenant, "/log"), "application/x-ndjson", lines)

    def set_aside(self, tenant: str) -> dict[str, Json]:
        """Takes a damaged file out of use for a restore."""
        return self._post(_at(tenant, "/set-aside"))

    def salvage(self, tenant: str, *, after: int | None = None) -> Generator[bytes, None, None]:
        """The events that a file which was set aside still has, one per line."""
        return self._transport.chunks(_at(tenant, "/salvage"), {"after": after})

    def read_file(self, tenant: str, hash: str) -> Generator[bytes, None, None]:
        """The content of a file of a tenant."""
        return self._transport.chunks(_at(tenant, f"/files/{part(hash)}"))

    def put_file(self, tenant: str, hash: str, content: Source) -> dict[str, Json]:
        """Stores content that a log of the tenant names."""
        return self._put(_at(tenant, f"/files/{part(hash)}"), "application/octet-stream", content)

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Json]:
        answer: dict[str, Json] = self._transport.json("POST", path, body=dict(body or {}))
        return answer

    def _put(self, path: str, type: str, source: Source) -> dict[str, Json]:
        answer: dict[str, Json] = self._transport.json(
            "PUT", path, content=Content(source), headers={"content-type": type}
        )
        return answer


def _at(tenant: str, rest: str = "") -> str:
    return f"/operator/tenants/{part(tenant)}{rest}"
