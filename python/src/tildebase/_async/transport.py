"""Requests with credentials: lost ones are repeated, and errors become Problems."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from ..content import Content
from ..problem import Problem
from ..sse import Message, MessageParser
from ..values import json_text
from ..wire import (
    back_off,
    headers_of,
    is_repeatable,
    is_task,
    keyed,
    next_wait,
    part,
    problem_of,
    query_of,
    task_result,
    warn,
)
from .auth import AsyncAuth, AsyncFixedAuth

#: How soon the state of a task is read again, in seconds: at first, and at most.
FIRST_LOOK, LONGEST_LOOK = 0.1, 1.0
#: A live answer has a sign of life every 15 seconds.
SILENCE = 40.0


class AsyncTransport:
    """The way to one service."""

    def __init__(
        self,
        base_url: str,
        auth: AsyncAuth,
        *,
        retries: int = 4,
        timeout: float = 60.0,
        client: httpx.AsyncClient | None = None,
        wait_for_tasks: bool = True,
        on_task: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._auth = auth
        self._retries = retries
        self._wait_for_tasks = wait_for_tasks
        self._on_task = on_task
        self._client = client or httpx.AsyncClient(timeout=timeout)

    async def close(self) -> None:
        await self._client.aclose()

    async def json(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str | None] | None = None,
        once: bool = False,
        **sending: Any,
    ) -> Any:
        """The JSON of the answer; None when it has no body. It waits for a write that the service continues as a task."""
        own = keyed(method, once, headers)
        value, response = await self.read(method, path, headers=own, once=once, **sending)
        if not is_task(response) or not self._wait_for_tasks:
            return value
        result = await self._task_done(path, value)
        if not is_repeatable(method, sending.get("query"), own):
            return result
        answer, response = await self.read(method, path, headers=own, once=once, **sending)
        return result if is_task(response) else answer

    async def _task_done(self, path: str, task: Mapping[str, Any]) -> Any:
        """What is kept of the answer of a task, at its end."""
        at = f"/{path.split('/')[1]}/tasks/{part(task['id'])}"
        wait = FIRST_LOOK
        while task["state"] == "running":
            if self._on_task:
                self._on_task(task)
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_LOOK)
            task, _ = await self.read("GET", at)
        if self._on_task:
            self._on_task(task)
        return task_result(task)

    async def read(self, method: str, path: str, **sending: Any) -> tuple[Any, httpx.Response]:
        """The JSON of an answer, and the answer."""
        response = await self.send(method, path, **sending)
        try:
            content = await response.aread()
        except httpx.TransportError as reason:
            raise self._unreachable(reason) from reason
        finally:
            await response.aclose()
        return json.loads(content) if content else None, response

    async def chunks(self, path: str, query: Mapping[str, Any] | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes of an answer as they arrive."""
        response = await self.send("GET", path, query=query, headers={"accept": "*/*"})
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.TransportError as reason:
            raise self._unreachable(reason) from reason
        finally:
            await response.aclose()

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | Content | None = None,
        headers: Mapping[str, str | None] | None = None,
        once: bool = False,
        read_timeout: float | None = None,
    ) -> httpx.Response:
        """The answer as soon as its headers are there. The caller closes it."""
        sent = headers_of(keyed(method, once, headers))
        if body is not None:
            content = json_text(body).encode()
            sent.setdefault("content-type", "application/json")
        if isinstance(content, Content):
            sent["content-length"] = str(content.size)
        failures = 0
        is_renewed = False
        while True:
            retry_after = None
            proof = await self._auth.headers(method)
            try:
                request = self._client.build_request(
                    method,
                    f"{self.base_url}{path}",
                    params=query_of(query),
                    content=_parts(content) if isinstance(content, Content) else content,
                    headers={**sent, **proof},
                )
                if read_timeout is not None:
                    request.extensions = {"timeout": {**request.extensions["timeout"], "read": read_timeout}}
                response = await self._client.send(request, stream=True)
                warn(response.headers.get("x-tilde-warnings"), path)
                if response.is_success:
                    return response
                retry_after = response.headers.get("retry-after")
                text = (await response.aread()).decode("utf-8", "replace")
                await response.aclose()
                problem = problem_of(response.status_code, text)
            except httpx.TransportError as reason:
                problem = self._unreachable(reason)
            if problem.status == 401 and not is_renewed and await self._auth.renew(proof):
                is_renewed = True
                continue
            wait = next_wait(problem, retry_after, failures)
            is_lost = problem.code == "unreachable"
            if wait is None or failures >= self._retries or (once and is_lost):
                raise problem
            failures += 1
            await asyncio.sleep(wait)

    async def follow(
        self,
        path: str,
        query: Callable[[str | None], Mapping[str, Any]],
        last: str | None = None,
    ) -> AsyncGenerator[Message, None]:
        """The messages of a live answer. Reconnects after the last message that it saw."""
        failures = 0
        while True:
            try:
                headers = {"accept": "text/event-stream", "last-event-id": last}
                response = await self.send("GET", path, query=query(last), headers=headers, read_timeout=SILENCE)
                try:
                    if not response.headers.get("content-type", "").startswith("text/event-stream"):
                        raise Problem("unexpected_answer", f"{path} answered, but not with a stream of events.")
                    parser = MessageParser()
                    async for chunk in response.aiter_bytes():
                        for message in parser.feed(chunk):
                            last = message.id or last
                            failures = 0
                            yield message
                finally:
                    await response.aclose()
            except httpx.TransportError:
                pass
            except Problem as problem:
                # Refused, not lost: coming back would change nothing.
                if problem.code != "unreachable":
                    raise
            await asyncio.sleep(random.random() * back_off(failures))
            failures += 1

    def _unreachable(self, reason: Exception) -> Problem:
        why = str(reason) or type(reason).__name__
        return Problem("unreachable", f"{self.base_url} cannot be reached ({why}). Is the server running there?")


async def _parts(content: Content) -> AsyncGenerator[bytes, None]:
    for one in content.parts():
        yield one


@asynccontextmanager
async def opened(
    base_url: str, auth: AsyncAuth | None = None, client: httpx.AsyncClient | None = None
) -> AsyncGenerator[AsyncTransport, None]:
    """A transport for a few requests, without credentials unless they are given. A given client stays open."""
    transport = AsyncTransport(base_url, auth or AsyncFixedAuth({}), client=client)
    try:
        yield transport
    finally:
        if client is None:
            await transport.close()
