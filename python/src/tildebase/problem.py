"""Errors of the service and of the way to it."""

from __future__ import annotations

from typing import Any, Mapping


class Problem(Exception):
    """A refusal of the service, or a failure on the way to it."""

    def __init__(self, code: str, message: str, about: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        #: What happened, in one word: ``validation_error``, ``not_found``, ``unreachable``.
        self.code = code
        self.message = message
        #: What it is about: ``type``, ``id``, ``field``, ``details``, ``requestId``, ``status``.
        self.about: dict[str, Any] = dict(about or {})

    @property
    def status(self) -> int | None:
        """The HTTP status, if the service answered."""
        status = self.about.get("status")
        return status if isinstance(status, int) else None

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def problem_in(body: object, status: int) -> Problem:
    """The problem in the body of an error."""
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return Problem("unexpected_answer", f"The server returned {status} without a reason.", {"status": status})
    about = {name: value for name, value in body.items() if name not in ("error", "message")}
    return Problem(body["error"], str(body.get("message") or body.get("error_description")), {**about, "status": status})
