"""Server-sent events, as the HTML standard reads them."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple


class Message(NamedTuple):
    id: str
    event: str
    data: str


class MessageParser:
    """Takes bytes as they come and gives the messages that are complete."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._id = ""
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Message]:
        self._rest += self._decoder.decode(chunk)
        # A CR at the very end may be half of a CRLF: it waits for what comes next.
        lines = re.split(r"\r\n|\n|\r(?!\Z)", self._rest)
        self._rest = lines.pop()
        messages = [self._line(line) for line in lines]
        return [message for message in messages if message is not None]

    def _line(self, line: str) -> Message | None:
        if line == "":
            message = Message(self._id, self._event or "message", "\n".join(self._data)) if self._data else None
            self._event, self._data = "", []
            return message
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        elif field == "id" and "\0" not in value:
            self._id = value
        return None
