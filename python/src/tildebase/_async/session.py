"""People who sign in with a password."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from ..values import Json
from ..wire import part
from .transport import opened


class AsyncSession:
    """A person who signed in: ``Tildebase(tenant, base_url=…, auth=session)``."""

    def __init__(
        self, tenant: str, base_url: str, user: dict[str, Json], headers: Mapping[str, str], client: httpx.AsyncClient | None
    ) -> None:
        #: Id, name, e-mail address and role.
        self.user = user
        self._path = f"/~{part(tenant)}/session"
        self._base_url = base_url
        self._headers = headers
        self._client = client

    @classmethod
    async def sign_in(
        cls,
        tenant: str,
        email: str,
        password: str,
        base_url: str = "http://localhost:8787",
        *,
        client: httpx.AsyncClient | None = None,
    ) -> "AsyncSession":
        """Signs in with an e-mail address and a password."""
        return await cls._start(tenant, base_url, "session", {"email": email, "password": password}, client)

    @classmethod
    async def accept_invitation(
        cls,
        tenant: str,
        token: str,
        password: str,
        base_url: str = "http://localhost:8787",
        *,
        client: httpx.AsyncClient | None = None,
    ) -> "AsyncSession":
        """Accepts an invitation: ``token`` is the part after ``#`` of its link. The password has 12 characters or more."""
        return await cls._start(tenant, base_url, "invitation/accept", {"token": token, "password": password}, client)

    @classmethod
    async def _start(
        cls, tenant: str, base_url: str, path: str, body: Mapping[str, str], client: httpx.AsyncClient | None
    ) -> "AsyncSession":
        async with opened(base_url, client=client) as transport:
            answer, response = await transport.read("POST", f"/~{part(tenant)}/{path}", body=body, once=True)
        cookie = response.headers["set-cookie"].split(";")[0]
        return cls(tenant, base_url, answer["user"], {"cookie": cookie, "x-tilde-csrf": answer["csrf"]}, client)

    async def headers(self, method: str) -> Mapping[str, str]:
        return self._headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        return False

    async def end(self) -> None:
        """Signs out."""
        async with opened(self._base_url, self, self._client) as transport:
            await transport.json("DELETE", self._path)
