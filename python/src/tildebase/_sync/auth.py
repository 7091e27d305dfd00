# Written by python/generate.py. Do not edit.
"""The credentials of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..wire import check_key


class Auth(Protocol):
    """Credentials, which may have to be renewed. A session and OAuth are such."""

    def headers(self, method: str) -> Mapping[str, str]:
        """The headers of a request."""
        ...

    def renew(self, refused: Mapping[str, str]) -> bool:
        """Called when the service refused these headers; true if another attempt may help."""
        ...


class FixedAuth:
    """The same headers for all requests."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def headers(self, method: str) -> Mapping[str, str]:
        return self._headers

    def renew(self, refused: Mapping[str, str]) -> bool:
        return False


def key_auth(api_key: str | None) -> Auth:
    """The credentials of an API key."""
    check_key(api_key)
    return FixedAuth({"authorization": f"Bearer {api_key}"})
