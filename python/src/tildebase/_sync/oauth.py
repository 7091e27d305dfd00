# Written by python/generate.py. Do not edit.
"""Sign-in by OAuth 2.1 with PKCE, for applications that act for a person."""

from __future__ import annotations

from threading import Lock
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import httpx

from ..oauth import (
    PendingOAuth,
    Tokens,
    address_to_open,
    code_in,
    is_ending,
    new_pending,
    resource_of,
    tokens_in,
)
from ..problem import Problem
from ..wire import part
from .transport import opened

FORM = "application/x-www-form-urlencoded"


class OAuth:
    """The rights that a person gave an application: ``Tildebase(tenant, base_url=…, auth=oauth)``.

    Tokens are renewed automatically. ``on_tokens`` is called with the new ones, to keep them: the old ones no longer work.
    """

    def __init__(
        self,
        tokens: Tokens,
        *,
        on_tokens: Callable[[Tokens], object] | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        self.tokens = tokens
        self._on_tokens = on_tokens
        self._client = client
        self._lock = Lock()

    @classmethod
    def start(
        cls,
        tenant: str,
        redirect_uri: str,
        base_url: str = "http://localhost:8787",
        *,
        scopes: Sequence[str] = ("read:all",),
        client_id: str | None = None,
        client_name: str = "Application",
        client: httpx.Client | None = None,
    ) -> tuple[str, PendingOAuth]:
        """The address to open in a browser, and what to keep until the person comes back to ``redirect_uri``.

        Without a ``client_id``, the application registers itself with ``client_name``.
        """
        if client_id is None:
            body = {"client_name": client_name, "redirect_uris": [redirect_uri]}
            with opened(base_url, client=client) as transport:
                client_id = (transport.json("POST", f"/~{part(tenant)}/oauth/register", body=body))["client_id"]
        pending = new_pending(tenant, base_url, str(client_id), redirect_uri)
        return address_to_open(pending, scopes), pending

    @classmethod
    def finish(
        cls,
        pending: PendingOAuth,
        address: str,
        *,
        on_tokens: Callable[[Tokens], object] | None = None,
        client: httpx.Client | None = None,
    ) -> "OAuth":
        """Exchanges the code in the address that the person came back to for tokens."""
        form = {
            "grant_type": "authorization_code",
            "code": code_in(pending, address),
            "code_verifier": pending["verifier"],
            "redirect_uri": pending["redirect_uri"],
        }
        tokens = _tokens_for(form, pending["tenant"], pending["base_url"], pending["client_id"], client)
        return cls(tokens, on_tokens=on_tokens, client=client)

    def headers(self, method: str) -> Mapping[str, str]:
        if is_ending(self.tokens):
            self._renew(self.tokens["access_token"])
        return {"authorization": f"Bearer {self.tokens['access_token']}"}

    def renew(self, refused: Mapping[str, str]) -> bool:
        return self._renew(refused["authorization"].removeprefix("Bearer "))

    def end(self) -> None:
        """Ends the sign-in: neither token works afterwards."""
        tokens = self.tokens
        form = {"token": tokens["refresh_token"] or tokens["access_token"], "client_id": tokens["client_id"]}
        _send_form("revoke", form, tokens["tenant"], tokens["base_url"], self._client)

    def _renew(self, old: str) -> bool:
        # One renewal for all requests that wait for it: a refresh token that comes twice ends the sign-in.
        with self._lock:
            tokens = self.tokens
            if tokens["access_token"] != old:
                return True
            if tokens["refresh_token"] is None:
                return False
            form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
            self.tokens = _tokens_for(
                form, tokens["tenant"], tokens["base_url"], tokens["client_id"], self._client
            )
            if self._on_tokens:
                self._on_tokens(self.tokens)
            return True


def _tokens_for(
    form: Mapping[str, str], tenant: str, base_url: str, client_id: str, client: httpx.Client | None
) -> Tokens:
    whole = {**form, "client_id": client_id, "resource": resource_of(tenant, base_url)}
    return tokens_in(_send_form("token", whole, tenant, base_url, client), tenant, base_url, client_id)


def _send_form(
    name: str, form: Mapping[str, str], tenant: str, base_url: str, client: httpx.Client | None
) -> Any:
    with opened(base_url, client=client) as transport:
        try:
            return transport.json(
                "POST",
                f"/~{part(tenant)}/oauth/{name}",
                content=urlencode(form).encode(),
                headers={"content-type": FORM},
                once=True,
            )
        except Problem as problem:
            # Errors of OAuth have codes of their own (RFC 6749).
            if "error_description" not in problem.about:
                raise
            about = {"status": problem.status, "oauth": problem.code}
            raise Problem("unauthorized", problem.about["error_description"], about) from problem
