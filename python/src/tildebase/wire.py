"""What a request looks like, and when to repeat it. No input and no output."""

from __future__ import annotations

import json
import random
import re
import secrets
import warnings
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import quote

import httpx

from .problem import Problem, problem_in
from .values import json_text

FIRST_WAIT = 0.1
LONGEST_WAIT = 10.0
LONGEST_PATIENCE = 60.0
#: Codes of 503 answers for which a retry does not help.
HOPELESS = {"layout_too_new"}
#: A longer filter travels in a body: not every proxy takes long addresses.
LONGEST_FILTER = 4_000


class UnknownFieldWarning(UserWarning):
    """A field name that is neither declared nor stored."""


def part(text: str) -> str:
    """One segment of a path."""
    return quote(text, safe="")


def check_key(key: object) -> None:
    """Refuses a key that is not valid in a header, without showing it."""
    if isinstance(key, str) and re.fullmatch(r"[\x21-\x7e]+", key):
        return
    raise Problem("invalid_key", "The API key is missing or has characters that no key has. Give the secret alone.")


def query_of(query: Mapping[str, Any] | None) -> dict[str, str]:
    """Parameters: None is left out, and what is not a string is written as JSON."""
    return {
        name: value if isinstance(value, str) else json_text(value)
        for name, value in (query or {}).items()
        if value is not None
    }


def keyed(method: str, once: bool, headers: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Headers with a key that is the same on every attempt, so that the request runs only once."""
    own: dict[str, str | None] = dict(headers or {})
    if method == "POST" and not once:
        own.setdefault("idempotency-key", secrets.token_hex(16))
    return own


def headers_of(more: Mapping[str, str | None]) -> dict[str, str]:
    headers = {"accept": "application/json"}
    headers.update({name: value for name, value in more.items() if value is not None})
    return headers


def is_task(response: httpx.Response) -> bool:
    """Whether an answer is a task that the service continues, and no changeset or fork."""
    location = response.headers.get("location", "")
    return response.status_code == 202 and re.search(r"/tasks/task_[^/]*$", location) is not None


def is_repeatable(method: str, query: Mapping[str, Any] | None, headers: Mapping[str, str | None]) -> bool:
    """Whether a write that is done may be sent again for its answer: that of a POST is kept under its key."""
    if (query or {}).get("dryRun"):
        return False
    if method == "PUT":
        return "propose" not in (query or {})
    return method == "POST" and headers.get("idempotency-key") is not None


def task_result(task: Mapping[str, Any]) -> Any:
    """What is kept of the answer of a task. A Problem if it failed or was cancelled."""
    if task["state"] == "done":
        return task["result"]
    error = task.get("error") or {"code": "conflict", "message": f"The task {task['id']} was cancelled."}
    raise Problem(error["code"], error["message"])


def back_off(failures: int) -> float:
    """The longest wait after this number of failures, in seconds."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures, 20))


def next_wait(problem: Problem, retry_after: str | None, failures: int) -> float | None:
    """The wait before the next attempt in seconds; None if a retry does not help."""
    wait = random.random() * back_off(failures)
    if problem.code == "unreachable":
        return wait
    if problem.status not in (429, 503) or problem.code in HOPELESS:
        return None
    told = told_wait(retry_after)
    if told is None:
        return wait
    return None if told > LONGEST_PATIENCE else told + wait


def told_wait(header: str | None) -> float | None:
    """Retry-After in seconds: a number, or a date."""
    if header is None or not header.strip():
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except (TypeError, ValueError):
        return None


def problem_of(status: int, text: str) -> Problem:
    try:
        return problem_in(json.loads(text), status)
    except ValueError:
        return problem_in(None, status)


def warn(header: str | None, path: str) -> None:
    """Reports unknown names, and verbs that did nothing outside, as a Python warning."""
    if header is None:
        return
    for one in json.loads(header):
        if "field" not in one:
            why = f"no transport for {one['channel']} is configured" if "channel" in one else one["warning"]
            warnings.warn(f"{path}: nothing outside happened: {why}.", UserWarning, stacklevel=4)
            continue
        if one.get("warning") == "ignored":
            warnings.warn(f"{path}: {one['field']} has no effect here.", UnknownFieldWarning, stacklevel=4)
            continue
        hint = f"; did you mean {one['nearest']}?" if one.get("nearest") else "."
        warnings.warn(f"{path}: {one['field']} is neither declared nor stored{hint}", UnknownFieldWarning, stacklevel=4)
