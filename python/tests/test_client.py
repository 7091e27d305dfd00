"""Tests without a service: a server that follows a script, and deliveries that are signed here."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import random
import threading
import unittest
import warnings
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tildebase import AsyncTildebase, Problem, Tildebase, UnknownFieldWarning, verify_webhook
from tildebase.sse import Message, MessageParser

Act = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, body: object, **headers: str) -> Act:
    def act(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return act


def drop(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def events(*seqs: int) -> Act:
    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        for seq in seqs:
            handler.wfile.write(f'id: {seq}\nevent: x\ndata: {{"seq": {seq}}}\n\n'.encode())
        handler.wfile.write(b': alive\n\nid: 99\ndata: {"seq"')
        handler.close_connection = True

    return act


OK = answer(200, {"$id": "contact_1", "name": "Ada"})
BUSY = answer(503, {"error": "busy", "message": "Come back later."}, retry_after="0")


class Scripted(unittest.TestCase):
    """One step per request."""

    def setUp(self) -> None:
        self.script: list[Act] = []
        self.seen: list[dict[str, Any]] = []
        case = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                case.seen.append({"method": self.command, "path": self.path, "body": body, "headers": self.headers})
                (case.script.pop(0) if case.script else OK)(self)

            do_GET = do_POST = handle_any

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def test_lost_and_postponed_requests_are_sent_again_with_the_same_key(self) -> None:
        self.script = [drop, BUSY, OK]
        with Tildebase("acme", "tb_x", self.url) as client:
            self.assertEqual(client.Contact.create({"name": "Ada"})["name"], "Ada")
        keys = {seen["headers"]["idempotency-key"] for seen in self.seen}
        self.assertEqual((len(self.seen), len(keys)), (3, 1))

    def test_async_requests_are_sent_again_too(self) -> None:
        self.script = [drop, BUSY, OK]

        async def work() -> Any:
            async with AsyncTildebase("acme", "tb_x", self.url) as client:
                return await client.Contact.get("contact_1")

        self.assertEqual(asyncio.run(work())["name"], "Ada")
        self.assertEqual(len(self.seen), 3)

    def test_retries_end_and_refusals_and_code_are_not_repeated(self) -> None:
        client = Tildebase("acme", "tb_x", self.url, retries=2)
        for script, call, code, times in [
            ([BUSY] * 9, lambda: client.Contact.count(), "busy", 3),
            ([answer(422, {"error": "validation_error", "message": "No."})], lambda: client.Contact.count(), "validation_error", 1),
            ([drop, drop], lambda: client.do("1"), "unreachable", 1),
            ([answer(502, b"<h1>Bad gateway</h1>")], lambda: client.Contact.count(), "unexpected_answer", 1),
        ]:
            self.script, self.seen = list(script), []
            with self.assertRaises(Problem) as raised:
                call()
            self.assertEqual((raised.exception.code, len(self.seen)), (code, times))

    def task(self, state: str, status: int = 200, **more: object) -> Act:
        body = {"id": "task_1", "title": "undo", "state": state, "progress": 1, "total": 2, "result": None, "error": None}
        return answer(status, {**body, **more}, location="/~acme/tasks/task_1")

    def test_a_write_that_becomes_a_task_gives_its_own_answer(self) -> None:
        begun, running = self.task("running", 202), self.task("running")
        progress: list[str] = []
        self.script = [begun, running, self.task("done", result={"status": 200}), answer(200, {"undone": 3})]
        with Tildebase("acme", "tb_x", self.url, on_task=lambda task: progress.append(task["state"])) as client:
            self.assertEqual(client.undo("c")["undone"], 3)
        self.assertEqual(progress, ["running", "running", "done"])
        self.assertEqual([seen["path"] for seen in self.seen][1:3], ["/~acme/tasks/task_1"] * 2)
        first, last = self.seen[0]["headers"], self.seen[3]["headers"]
        self.assertEqual(first["idempotency-key"], last["idempotency-key"])

        error = {"code": "conflict", "message": "The task was cancelled."}
        self.script = [begun, self.task("cancelled", error=error)]
        with self.assertRaises(Problem) as raised:
            Tildebase("acme", "tb_x", self.url).undo("c")
        self.assertEqual(raised.exception.code, "conflict")

        self.script, self.seen = [begun], []
        self.assertEqual(Tildebase("acme", "tb_x", self.url, wait_for_tasks=False).undo("c")["id"], "task_1")
        self.assertEqual(len(self.seen), 1)

    def test_an_import_that_was_interrupted_continues_after_the_rows_that_were_stored(self) -> None:
        about = {"field": "Idempotency-Key", "rows": 2, "imported": 1, "errors": 1}
        done = {"success": True, "imported": 0, "errors": 1, "details": [{"row": 0, "error": "No.", "line": 1}]}
        self.script = [drop, answer(409, {"error": "conflict", "message": "Interrupted.", **about}), answer(200, done)]
        report = Tildebase("acme", "tb_x", self.url).import_rows("Contact", [{"name": "a"}, {"name": "b"}, {"name": "c"}])

        self.assertEqual((report["imported"], report["errors"]), (1, 2))
        self.assertEqual((report["details"], report["detailsTruncated"]), ([{"row": 2, "error": "No."}], True))
        keys = [seen["headers"]["idempotency-key"] for seen in self.seen]
        self.assertEqual((keys[0] == keys[1], keys[1] == keys[2]), (True, False))
        self.assertEqual(self.seen[2]["body"], b'{"name": "c"}\n')

    def test_an_import_that_is_refused_says_what_was_imported_before(self) -> None:
        first = {"success": True, "imported": 9_999, "errors": 1, "details": []}
        self.script = [answer(200, first), answer(403, {"error": "forbidden", "message": "No."})]
        with self.assertRaises(Problem) as raised:
            Tildebase("acme", "tb_x", self.url).import_rows("Contact", ({"name": "a"} for _ in range(10_001)))
        problem = raised.exception
        self.assertEqual((problem.code, problem.about["imported"], problem.about["success"]), ("forbidden", 9_999, False))
        self.assertEqual([seen["path"] for seen in self.seen], ["/~acme/import/Contact?more=true"] * 2)

    def test_a_stream_continues_after_the_last_event_that_it_saw(self) -> None:
        self.script = [events(1, 2), drop, events(), BUSY, events(3), events(4)]
        got = []
        for event in Tildebase("acme", "tb_x", self.url).events.stream(since="2026-01-01"):
            got.append(event["seq"])
            if len(got) == 4:
                break
        self.assertEqual(got, [1, 2, 3, 4])
        self.assertEqual([seen["headers"]["last-event-id"] for seen in self.seen], [None, "2", "2", "2", "2", "3"])

    def test_a_refused_stream_says_why(self) -> None:
        self.script = [answer(401, {"error": "unauthorized", "message": "No."})]
        with self.assertRaises(Problem) as raised:
            next(Tildebase("acme", "tb_x", self.url).events.stream())
        self.assertEqual(raised.exception.code, "unauthorized")

    def test_unknown_names_are_python_warnings(self) -> None:
        self.script = [answer(200, {"count": 0}, X_Tilde_Warnings='[{"field": "stge", "nearest": "stage"}]')]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Tildebase("acme", "tb_x", self.url).Contact.count({"stge": "Lead"})
        self.assertEqual(caught[0].category, UnknownFieldWarning)
        self.assertIn("did you mean stage?", str(caught[0].message))

    def test_names_without_an_effect_are_python_warnings(self) -> None:
        self.script = [
            answer(200, {}, X_Tilde_Warnings='[{"field": "createdAt", "nearest": null, "warning": "ignored"}]')
        ]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Tildebase("acme", "tb_x", self.url).Contact.update("contact_1", {"createdAt": "2001-01-01"})
        self.assertIn("createdAt has no effect here.", str(caught[0].message))

    def test_a_message_that_nothing_sends_is_a_python_warning(self) -> None:
        self.script = [answer(200, {}, X_Tilde_Warnings='[{"warning": "not_configured", "channel": "Email"}]')]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Tildebase("acme", "tb_x", self.url).Message.send("message_1")
        self.assertIn("nothing outside happened: no transport for Email is configured.", str(caught[0].message))

    def test_files_are_bytes_at_the_path_of_their_field(self) -> None:
        client = Tildebase("acme", "tb_x", self.url)
        self.script = [OK, answer(200, b"%PDF"), answer(200, {"url": "u", "expires": "e"}), answer(201, {"hash": "sha256:x"})]
        client.Asset.upload("asset_1", "file", b"%PDF", name="a b.pdf", type="application/pdf")
        self.assertEqual(client.Asset.download("asset_1", "files", index=2, as_of="2026-01-01"), b"%PDF")
        client.Asset.link("asset_1", "file", expires="10m")
        client.files.upload(b"x", name="x.txt", type="text/plain")
        self.assertEqual(
            [(seen["method"], seen["path"], seen["body"]) for seen in self.seen],
            [
                ("POST", "/~acme/Asset/asset_1/file?name=a+b.pdf", b"%PDF"),
                ("GET", "/~acme/Asset/asset_1/files/2?asOf=2026-01-01", b""),
                ("POST", "/~acme/Asset/asset_1/file/link", b'{"expires": "10m"}'),
                ("POST", "/~acme/files?name=x.txt", b"x"),
            ],
        )
        self.assertEqual(self.seen[0]["headers"]["content-type"], "application/pdf")

    def test_a_key_that_is_none_is_refused_without_being_shown(self) -> None:
        for key in ["", "tb_secret\n", "tb secret"]:
            with self.assertRaises(Problem) as raised:
                Tildebase("acme", key)
            self.assertEqual(raised.exception.code, "invalid_key")
            self.assertNotIn("secret\n", str(raised.exception).replace("Give the secret alone", ""))


class Messages(unittest.TestCase):
    def test_messages_do_not_depend_on_how_the_bytes_were_cut(self) -> None:
        text = "id: 1\r\ndata: Zoë 🌊\r\n\r\n: x\ndata: a\r\ndata: b\r\n\r\nevent: e\rid: 2\rdata: c\r\r\n"
        content = text.encode()
        whole = MessageParser().feed(content)
        self.assertEqual(
            whole, [Message("1", "message", "Zoë 🌊"), Message("1", "message", "a\nb"), Message("2", "e", "c")]
        )
        chance = random.Random(7)
        for _ in range(500):
            cuts = sorted(chance.randrange(len(content)) for _ in range(chance.randrange(9)))
            parser = MessageParser()
            edges = [0, *cuts, len(content)]
            parts = [content[start:end] for start, end in zip(edges, edges[1:])]
            self.assertEqual([message for part in parts for message in parser.feed(part)], whole)


class Deliveries(unittest.TestCase):
    body = b'{"type": "Contact.created", "seq": 1}'
    secret = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()

    def signed(self, key: bytes = b"0123456789abcdef01234567", time: int = 1_000_000) -> dict[str, str]:
        signature = hmac.new(key, f"msg_1.{time}.".encode() + self.body, hashlib.sha256).digest()
        return {
            "Webhook-Id": "msg_1",
            "Webhook-Timestamp": str(time),
            "Webhook-Signature": f"v1,AAAA v1,{base64.b64encode(signature).decode()}",
        }

    def test_both_kinds_of_signature_give_the_event(self) -> None:
        service = {"x-service-signature": "sha256=" + hmac.new(self.secret.encode(), self.body, hashlib.sha256).hexdigest()}
        self.assertEqual(verify_webhook(self.signed(), self.body, self.secret, now=1_000_100)["type"], "Contact.created")
        self.assertEqual(verify_webhook(service, self.body.decode(), self.secret)["seq"], 1)

    def test_every_other_delivery_is_refused(self) -> None:
        for headers, body, now in [
            (self.signed(), self.body + b" ", 1_000_000),
            (self.signed(key=b"other"), self.body, 1_000_000),
            (self.signed(), self.body, 1_000_301),
            (self.signed(), self.body, 999_699),
            ({**self.signed(), "Webhook-Timestamp": "nan"}, self.body, 1_000_000),
            ({"x-service-signature": "sha256=00"}, self.body, 1_000_000),
            ({}, self.body, 1_000_000),
        ]:
            with self.assertRaises(Problem) as raised:
                verify_webhook(headers, body, self.secret, now=now)
            self.assertEqual(raised.exception.code, "invalid_signature")


if __name__ == "__main__":
    unittest.main()
