"""Whole tenants: ``python3 test_operator.py <url> <key>``."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import httpx

from tildebase import AsyncOperator, AsyncTildebase, Operator, Problem, Tildebase

URL, KEY = sys.argv[1:3]


class Operators(unittest.TestCase):
    def test_the_operator_creates_copies_saves_and_deletes_a_tenant(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Operator(KEY, URL) as operator:
            file, tenants = Path(folder) / "shop.db", operator.tenants
            tenants.create("py-shop")
            secret = tenants.create_key("py-shop", {"name": "backend", "scopes": "write:all"})["secret"]
            with Tildebase("py-shop", secret, URL) as client:
                made = client.Contact.create({"name": "Ada"})
                client.Contact.update(made["$id"], {"name": "Eve"})
            tenants.fork("py-shop", "py-shop-copy")
            past = tenants.fork("py-shop", "py-shop-past", as_of=made["$createdAt"])
            file.write_bytes(b"an older backup")
            tenants.backup("py-shop", file)
            with file.open("rb") as backup:
                tenants.restore("py-shop-old", backup)
            tenants.replay_log("py-shop-replayed", b"".join(tenants.read_log("py-shop")))

            self.assertEqual(
                [one["tenant"] for one in tenants.list(limit=100) if one["tenant"].startswith("py-shop")],
                ["py-shop", "py-shop-copy", "py-shop-old", "py-shop-past", "py-shop-replayed"],
            )
            self.assertEqual([one.name for one in Path(folder).iterdir()], ["shop.db"])
            self.assertEqual(past["events"], 2)
            info = tenants.get("py-shop-old")
            self.assertEqual((info["events"], info["entities"]["Contact"]), (3, 1))
            verdict = tenants.verify("py-shop")
            self.assertEqual((verdict["ok"], verdict["faults"], list(tenants.tasks("py-shop"))), (True, [], []))
            tenants.delete("py-shop")
            with self.assertRaises(Problem) as raised:
                tenants.get("py-shop")
            self.assertEqual(raised.exception.code, "not_found")
            self.assertEqual(operator.log(limit=1)[0]["tenant"], "py-shop")

    def test_a_backup_that_fails_leaves_the_older_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Operator(KEY, URL) as operator:
            file = Path(folder) / "shop.db"
            file.write_bytes(b"an older backup")
            with self.assertRaises(Problem):
                operator.tenants.backup("py-nowhere", file)

            self.assertEqual([one.name for one in Path(folder).iterdir()], ["shop.db"])
            self.assertEqual(file.read_bytes(), b"an older backup")

    def test_asyncio_restores_from_a_file_too(self) -> None:
        async def work(file: Path) -> Any:
            async with AsyncTildebase("py-async", KEY, URL) as client:
                await client.Contact.create({"name": "Ada"})
            async with AsyncOperator(KEY, URL) as operator:
                await operator.tenants.backup("py-async", file)
                with file.open("rb") as backup:
                    await operator.tenants.restore("py-async-old", backup)
                lines = b"".join([chunk async for chunk in operator.tenants.read_log("py-async-old")])
                return lines, await operator.tenants.get("py-async-old")

        with tempfile.TemporaryDirectory() as folder:
            lines, info = asyncio.run(work(Path(folder) / "a.db"))
        self.assertEqual((info["events"], b"Ada" in lines), (1, True))

    def test_every_endpoint_of_the_operator_is_a_method(self) -> None:
        seen: set[str] = set()

        def reply(request: httpx.Request) -> httpx.Response:
            path = request.url.path.replace("/tenants/t", "/tenants/{tenant}").replace("/files/h", "/files/{hash}")
            seen.add(f"{request.method} {path}")
            return httpx.Response(200, json={"results": []})

        with tempfile.TemporaryDirectory() as folder:
            operator = Operator(KEY, client=httpx.Client(transport=httpx.MockTransport(reply)))
            tenants = operator.tenants
            for call in (tenants.get, tenants.delete, tenants.verify, tenants.tasks, tenants.release, tenants.set_aside):
                call("t")
            tenants.backup("t", f"{folder}/t.db")
            tenants.restore("t", b"")
            tenants.replay_log("t", b"")
            tenants.list()
            tenants.tasks()
            tenants.create("t")
            tenants.fork("t", "u")
            tenants.put_file("t", "h", b"")
            for chunks in (tenants.read_log("t"), tenants.salvage("t"), tenants.read_file("t", "h")):
                list(chunks)
            operator.log()
            operator.rotate_signing_key()
            operator.describe()
        with Operator(KEY, URL) as operator:
            paths = operator.describe()["paths"]
        methods = {"get", "post", "put", "delete", "patch"}
        known = {f"{method.upper()} {path}" for path, routes in paths.items() for method in routes if method in methods}
        self.assertEqual((seen - known, known - seen), (set(), set()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
