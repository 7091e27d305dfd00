"""Content of files: at once, or in pieces by the protocol tus 1.0.0."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from ..content import Source, Upload, UploadProgress
from ..problem import Problem
from ..values import Json
from ..wire import back_off, part
from .transport import AsyncTransport

#: How often a piece is sent that the service does not expect.
TRIES = 6


class AsyncFiles:
    """Content that no entity holds yet."""

    def __init__(self, transport: AsyncTransport, root: str) -> None:
        self._transport = transport
        self._root = root

    async def upload(
        self,
        content: Source,
        *,
        name: str | None = None,
        type: str = "application/octet-stream",
        on_progress: Callable[[UploadProgress], object] | None = None,
        resume: str | None = None,
    ) -> dict[str, Json]:
        """Stores content, and answers the value for a field of kind file. Unused content is removed after a day."""
        upload = Upload(content, name, type, on_progress, resume)
        value: dict[str, Json] = (
            await send_whole(self._transport, f"{self._root}/files", upload)
            if upload.is_whole
            else await send_pieces(self._transport, self._root, upload)
        )
        return value


async def send_whole(
    transport: AsyncTransport, path: str, upload: Upload, headers: Mapping[str, str | None] | None = None
) -> Any:
    """Sends content in one request."""
    upload.report(0, None)
    answer = await transport.json(
        "POST",
        path,
        query={"name": upload.name},
        content=upload.part(0, upload.size),
        headers={"content-type": upload.type, **(headers or {})},
    )
    upload.report(upload.size, None)
    return answer


async def send_pieces(transport: AsyncTransport, root: str, upload: Upload) -> dict[str, Json]:
    """Sends content piece by piece. Returns the value for a field of kind file."""
    name = upload.resume or await _begin(transport, f"{root}/uploads", upload)
    path = f"{root}/uploads/{part(name)}"
    offset = 0 if upload.resume is None else None
    failures = 0
    while True:
        try:
            if offset is None:
                state = await _ask(transport, "GET", path)
            else:
                state = await _ask(transport, "PATCH", path, {"upload-offset": str(offset)}, upload.piece(offset))
                # Looking is not progress: a piece may be refused after each look.
                failures = 0
        except Problem as problem:
            # The answer to a piece got lost, or the service has not noticed yet that its connection is gone.
            failures += 1
            if problem.code != "conflict" or failures == TRIES:
                raise
            offset = None
            await asyncio.sleep(back_off(failures))
            continue
        offset = int(state["upload-offset"])
        upload.report(offset, name)
        if "upload-hash" in state:
            return {"hash": state["upload-hash"], "size": upload.size, "type": upload.type, "name": upload.name or "file"}


async def _begin(transport: AsyncTransport, path: str, upload: Upload) -> str:
    headers = {"upload-length": str(upload.size), "upload-metadata": upload.metadata}
    return str((await _ask(transport, "POST", path, headers))["location"]).rsplit("/", 1)[-1]


async def _ask(
    transport: AsyncTransport,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> httpx.Headers:
    """The headers of the answer, which hold the state of the upload."""
    own: dict[str, str | None] = {"tus-resumable": "1.0.0", **(headers or {})}
    if content is not None:
        own["content-type"] = "application/offset+octet-stream"
    response = await transport.send(method, path, headers=own, content=content)
    await response.aclose()
    return response.headers
