"""What a sign-in by OAuth sends and keeps. No input and no output."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from time import time
from typing import Any, TypedDict
from urllib.parse import parse_qs, urlencode, urlsplit

from .problem import Problem
from .wire import part

#: Tokens are renewed this long before they end, in seconds.
EARLY = 30


class PendingOAuth(TypedDict):
    """What an application keeps until the person comes back. It fits into JSON."""

    tenant: str
    base_url: str
    client_id: str
    redirect_uri: str
    verifier: str
    state: str


class Tokens(TypedDict):
    """Tokens of one person for one application. They fit into JSON: keep them as safe as a password."""

    tenant: str
    base_url: str
    client_id: str
    access_token: str
    refresh_token: str | None
    scopes: list[str]
    #: In seconds since 1970.
    expires_at: float


def resource_of(tenant: str, base_url: str) -> str:
    return f"{base_url.rstrip('/')}/~{part(tenant)}"


def new_pending(tenant: str, base_url: str, client_id: str, redirect_uri: str) -> PendingOAuth:
    return {
        "tenant": tenant,
        "base_url": base_url,
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "verifier": secrets.token_urlsafe(48),
        "state": secrets.token_urlsafe(16),
    }


def address_to_open(pending: PendingOAuth, scopes: Sequence[str]) -> str:
    """Where the person decides, with the challenge of PKCE."""
    resource = resource_of(pending["tenant"], pending["base_url"])
    digest = hashlib.sha256(pending["verifier"].encode()).digest()
    query = {
        "response_type": "code",
        "client_id": pending["client_id"],
        "redirect_uri": pending["redirect_uri"],
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
        "scope": " ".join(scopes),
        "state": pending["state"],
        "resource": resource,
    }
    return f"{resource}/oauth/authorize?{urlencode(query)}"


def code_in(pending: PendingOAuth, address: str) -> str:
    """The code in the address that the person came back to."""
    answer = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    if "error" in answer:
        message = answer.get("error_description", "The sign-in was refused.")
        raise Problem("forbidden", message, {"oauth": answer["error"]})
    if "code" not in answer or answer.get("state") != pending["state"]:
        raise Problem("forbidden", "This address does not belong to the sign-in that was started here.")
    return answer["code"]


def tokens_in(answer: Mapping[str, Any], tenant: str, base_url: str, client_id: str) -> Tokens:
    return {
        "tenant": tenant,
        "base_url": base_url,
        "client_id": client_id,
        "access_token": answer["access_token"],
        "refresh_token": answer.get("refresh_token"),
        "scopes": (answer.get("scope") or "").split(),
        "expires_at": time() + answer["expires_in"],
    }


def is_ending(tokens: Tokens) -> bool:
    return time() > tokens["expires_at"] - EARLY
