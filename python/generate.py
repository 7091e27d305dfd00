"""Writes the sync client from the async one, and the models of the built-in types from an OpenAPI document.

    python3 generate.py openapi.json

The document is that of a tenant: ``GET /~acme/openapi.json``.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "tildebase"
NOTE = "# Written by python/generate.py. Do not edit.\n"

#: What is different in a program without asyncio, in this order.
WORDS = [
    (r"\bfrom asyncio import Lock\b", "from threading import Lock"),
    (r"\bimport asyncio\b", "import time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bAwaitable\[([^\[\]]+)\]", r"\1"),
    (r"from collections\.abc import (.+)", lambda match: f"from collections.abc import {sync_names(match[1])}"),
    (r"\bAsyncGenerator\[(.+), None\]:", r"Generator[\1, None, None]:"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\.(aread|aclose|aiter_bytes)\(", lambda match: f".{match[1][1:]}("),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\bAsync([A-Z])", r"\1"),
]


def sync_names(names: str) -> str:
    """The abstract types that the sync client imports."""
    return ", ".join(sorted(name.removeprefix("Async") for name in names.split(", ") if name != "Awaitable"))


def sync_text(text: str) -> str:
    """A module of the async client as one of the sync client."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)  # type: ignore[arg-type]
    return NOTE + text


def main() -> None:
    sys.path.insert(0, str(PACKAGE.parent))
    (PACKAGE / "_sync").mkdir(exist_ok=True)
    for source in (PACKAGE / "_async").glob("*.py"):
        (PACKAGE / "_sync" / source.name).write_text(sync_text(source.read_text()))
    if len(sys.argv) > 1:
        models = PACKAGE / "make_models.py"
        made: dict[str, object] = {}
        exec(compile(models.read_text(), str(models), "exec"), made)
        document = json.loads(Path(sys.argv[1]).read_text())
        (PACKAGE / "models.py").write_text(NOTE + made["models_of"](document))  # type: ignore[operator]


if __name__ == "__main__":
    main()
