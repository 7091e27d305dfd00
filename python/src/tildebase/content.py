"""Bytes to send: of a value, or of a file that is read in parts."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, Union

from .problem import Problem

#: Bytes, or a file that is open for reading. Of a file all bytes are sent, wherever it was read to.
Source = Union[bytes, BinaryIO]

#: Larger content is sent in pieces: when a connection is lost, only one piece is sent again.
PIECE = 4_194_304
MOST_PIECES = 5_000


class UploadProgress(NamedTuple):
    """How far an upload is."""

    #: The number of bytes that the service has.
    sent: int
    size: int
    #: The name of an upload in pieces, to continue it later; None for content that is sent at once.
    upload: str | None


class Content:
    """Bytes of a known number, to be read from any place."""

    def __init__(self, source: Source) -> None:
        self._file = io.BytesIO(source) if isinstance(source, (bytes, bytearray)) else source
        self.size = self._file.seek(0, os.SEEK_END)

    def part(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        found = self._file.read(length)
        if not found and start < self.size:
            raise Problem("invalid_body", "The file became shorter while it was sent.")
        return found

    def parts(self) -> Iterator[bytes]:
        """All bytes in order."""
        start = 0
        while start < self.size:
            found = self.part(start, min(PIECE, self.size - start))
            start += len(found)
            yield found


class Upload(Content):
    """Content with its name and type, and what is known about its way."""

    def __init__(
        self,
        source: Source,
        name: str | None,
        type: str,
        on_progress: Callable[[UploadProgress], object] | None,
        resume: str | None,
    ) -> None:
        super().__init__(source)
        own = getattr(source, "name", None)
        self.name = name or (os.path.basename(own) if isinstance(own, str) else None)
        self.type = type
        self.resume = resume
        self._on_progress = on_progress

    @property
    def is_whole(self) -> bool:
        """Whether it is sent at once."""
        return self.size <= PIECE and self.resume is None

    @property
    def metadata(self) -> str:
        """Name and type as tus has them."""
        values = {"filename": self.name or "file", "filetype": self.type}
        return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in values.items())

    def piece(self, start: int) -> bytes:
        return self.part(start, max(PIECE, -(-self.size // MOST_PIECES)))

    def report(self, sent: int, upload: str | None) -> None:
        if self._on_progress:
            self._on_progress(UploadProgress(sent, self.size, upload))
