"""How a live list changes with the messages of the service."""

from __future__ import annotations

import json
from typing import Any

from .sse import Message
from .values import Page


def after(page: Page[Any] | None, message: Message, is_sorted: bool) -> Page[Any] | None:
    """The page after a message, or None if it must be read again."""
    body = json.loads(message.data)
    if message.event == "page":
        return Page.of(body)
    # Another entity may move up into the page, or the order may change.
    if page is None or page.has_more or message.event == "enter" or (is_sorted and message.event == "change"):
        return None
    if message.event == "leave":
        rest = [one for one in page if one["$id"] != body["$id"]]
        gone = len(page) - len(rest)
        return Page(rest, None if page.total is None else page.total - gone, False, None)
    return Page([body if one["$id"] == body["$id"] else one for one in page], page.total, False, None)
