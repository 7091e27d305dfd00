"""The credentials of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..wire import check_key


class AsyncAuth(Protocol):
    """Credentials, which may have to be renewed. A session and OAuth are such."""

    async def headers(self, method: str) -> Mapping[str, str]:
        """The headers of a request."""
        ...

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """Called when the service refused these headers; true if another attempt may help."""
        ...


class AsyncFixedAuth:
    """The same headers for all requests."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def headers(self, method: str) -> Mapping[str, str]:
        return self._headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        return False


def key_auth(api_key: str | None) -> AsyncAuth:
    """The credentials of an API key."""
    check_key(api_key)
    return AsyncFixedAuth({"authorization": f"Bearer {api_key}"})
