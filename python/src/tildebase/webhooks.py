"""The verification of webhook deliveries."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from time import time
from typing import cast

from .problem import Problem
from .values import Event


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes | str,
    secret: str,
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> Event:
    """The event of a delivery that was signed with the secret; a Problem ``invalid_signature`` for any other.

    ``body`` is the body as it was sent, not parsed. ``tolerance`` is how old or early the time of a signature may be, in
    seconds.
    """
    known = {name.lower(): value for name, value in headers.items()}
    content = body.encode() if isinstance(body, str) else body
    standard = known.get("webhook-signature")
    if standard is None:
        genuine = _is_service_signed(known.get("x-service-signature"), content, secret)
    else:
        _check_time(known.get("webhook-timestamp", ""), tolerance, time() if now is None else now)
        genuine = _is_standard_signed(known, standard, content, secret)
    if not genuine:
        raise _refused("The signature of this delivery does not fit its body and the secret of the webhook.")
    return cast(Event, json.loads(content))


def _is_service_signed(signature: str | None, body: bytes, secret: str) -> bool:
    """``sha256=<hex>`` over the body, keyed with the secret as text."""
    if signature is None:
        raise _refused("This request has no signature: it is not a delivery of a webhook.")
    if not re.fullmatch(r"sha256=[0-9a-f]{64}", signature):
        return False
    return hmac.compare_digest(bytes.fromhex(signature[7:]), _sign(secret.encode(), body))


def _is_standard_signed(headers: Mapping[str, str], signatures: str, body: bytes, secret: str) -> bool:
    """``v1,<base64>`` over id, time and body, once per secret that is valid."""
    signed = f"{headers.get('webhook-id', '')}.{headers.get('webhook-timestamp', '')}.".encode() + body
    expected = _sign(_key_of(secret), signed)
    entries = [_from_base64(entry[3:]) for entry in signatures.split(" ") if entry.startswith("v1,")]
    return any([entry is not None and hmac.compare_digest(entry, expected) for entry in entries])


def _check_time(text: str, tolerance: float, now: float) -> None:
    try:
        if abs(now - float(text)) <= tolerance:
            return
    except ValueError:
        pass
    raise _refused("The signature of this delivery is too old or too early. Check the clock of this machine.")


def _key_of(secret: str) -> bytes:
    """The bytes behind ``whsec_``; of any other secret its text."""
    decoded = _from_base64(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else None
    return decoded or secret.encode()


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _sign(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def _refused(message: str) -> Problem:
    return Problem("invalid_signature", message)
