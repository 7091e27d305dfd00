"""Content of files, whole and in pieces: ``python3 test_files.py <url> <key>``."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tildebase import AsyncTildebase, Problem, Tildebase, UploadProgress

URL, KEY = sys.argv[1:3]
#: More than two pieces.
LARGE = os.urandom(9_500_000)


def hash_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Losing(httpx.HTTPTransport):
    """Loses the first piece before it is sent, and the answer to the third request for one. Counts the bytes of pieces."""

    def __init__(self, losses: dict[int, str]) -> None:
        super().__init__()
        self.losses = losses
        self.patches = 0
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "PATCH":
            return super().handle_request(request)
        self.patches += 1
        loss = self.losses.get(self.patches)
        if loss == "request":
            raise httpx.ConnectError("lost before it was sent")
        self.sent += int(request.headers["content-length"])
        response = super().handle_request(request)
        if loss == "answer":
            response.read()
            raise httpx.ReadError("the answer was lost")
        return response


class CuttingProxy:
    """Passes bytes on to the service, and cuts the connection once after so many bytes to it."""

    def __init__(self, after: int) -> None:
        self.left = after
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            place = urlsplit(URL)
            far = socket.create_connection((place.hostname or "", place.port or 80))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(source, target, target is far), daemon=True).start()

    def pass_on(self, source: socket.socket, target: socket.socket, is_up: bool) -> None:
        try:
            while chunk := source.recv(65_536):
                target.sendall(chunk)
                if is_up and self.cuts == 0:
                    self.left -= len(chunk)
                    if self.left <= 0:
                        self.cuts += 1
                        break
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Tildebase("py-pieces", KEY, URL)
        self.client.request("PUT", "/schema/Parcel", body={"name": "string!", "label": "file", "papers": "file[]"})
        self.id: str = self.client.Parcel.create({"name": "x"})["$id"]

    def tearDown(self) -> None:
        self.client.close()

    def losing(self, **losses: str) -> tuple[Tildebase, Losing]:
        transport = Losing({int(turn[1:]): kind for turn, kind in losses.items()})
        return Tildebase("py-pieces", KEY, URL, client=httpx.Client(transport=transport, timeout=60)), transport

    def test_small_content_is_sent_at_once_with_progress_and_a_version(self) -> None:
        seen: list[UploadProgress] = []
        parcel = self.client.Parcel.upload(self.id, "label", b"small", name="ä.txt", type="text/plain", on_progress=seen.append)

        self.assertEqual(parcel["label"], {"hash": hash_of(b"small"), "size": 5, "type": "text/plain", "name": "ä.txt"})
        self.assertEqual(seen, [(0, 5, None), (5, 5, None)])
        with self.assertRaises(Problem) as raised:
            self.client.Parcel.upload(self.id, "label", b"other", if_version=1)
        self.assertEqual(raised.exception.code, "version_mismatch")

    def test_large_content_survives_lost_requests_and_lost_answers(self) -> None:
        client, transport = self.losing(t1="request", t3="answer")
        client.Parcel.upload(self.id, "papers", b"small", name="small.txt")
        seen: list[UploadProgress] = []

        parcel = client.Parcel.upload(self.id, "papers", LARGE, name="large.bin", on_progress=seen.append)

        self.assertEqual(
            [(one["hash"], one["name"]) for one in parcel["papers"]],
            [(hash_of(b"small"), "small.txt"), (hash_of(LARGE), "large.bin")],
        )
        sent = [one.sent for one in seen]
        self.assertEqual((sent, sent[-1]), (sorted(sent), len(LARGE)))
        self.assertGreaterEqual(transport.patches, 4)
        self.assertEqual(client.Parcel.download(self.id, "papers", index=1), LARGE)

    def test_a_file_continues_after_its_connection_was_cut(self) -> None:
        proxy = CuttingProxy(after=6_000_000)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "film.bin"
            path.write_bytes(LARGE)
            with Tildebase("py-pieces", KEY, proxy.url) as client, path.open("rb") as file:
                parcel = client.Parcel.upload(self.id, "label", file)
        proxy.listener.close()

        self.assertEqual(proxy.cuts, 1)
        self.assertEqual((parcel["label"]["hash"], parcel["label"]["name"]), (hash_of(LARGE), "film.bin"))

    def test_an_upload_that_was_stopped_continues_where_it_was(self) -> None:
        class Enough(Exception):
            pass

        names: list[str | None] = []

        def stop(progress: UploadProgress) -> None:
            names.append(progress.upload)
            raise Enough

        client, transport = self.losing()
        with self.assertRaises(Enough):
            client.Parcel.upload(self.id, "label", LARGE, on_progress=stop)
        parcel = client.Parcel.upload(self.id, "label", LARGE, resume=names[0])

        self.assertEqual(parcel["label"]["hash"], hash_of(LARGE))
        self.assertEqual(transport.sent, len(LARGE))

    def test_a_piece_that_is_refused_again_and_again_ends_the_upload(self) -> None:
        class Moving(httpx.HTTPTransport):
            patches = 0

            def handle_request(self, request: httpx.Request) -> httpx.Response:
                if request.method == "PATCH":
                    self.patches += 1
                    assert self.patches < 20, "still sending"
                    request.headers["upload-offset"] = "1"
                return super().handle_request(request)

        client = Tildebase("py-pieces", KEY, URL, client=httpx.Client(transport=Moving()))
        with self.assertRaises(Problem) as raised:
            client.files.upload(LARGE)
        self.assertEqual(raised.exception.code, "conflict")

    def test_an_upload_that_is_unknown_is_refused_with_a_reason(self) -> None:
        with self.assertRaises(Problem) as raised:
            self.client.files.upload(LARGE, resume="upload_unknown")
        self.assertEqual(raised.exception.code, "not_found")

    def test_a_file_that_becomes_shorter_is_refused(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(LARGE)
            with self.assertRaises(Problem) as raised:
                self.client.files.upload(file, on_progress=lambda _: file.truncate(10))
        self.assertEqual(raised.exception.code, "invalid_body")

    def test_a_proposed_file_changes_nothing_before_the_approval(self) -> None:
        self.client.Parcel.upload(self.id, "label", b"old", name="old.txt")
        for content, name in ((b"new", "new.txt"), (LARGE, "large.bin")):
            proposal = self.client.propose("A new label")
            proposal.Parcel.upload(self.id, "label", content, name=name)
            review = proposal.review()
            assert review is not None
            change = review["diff"][0]["changes"]["label"]
            self.assertEqual((change["from"]["hash"], change["to"]["hash"]), (hash_of(b"old"), hash_of(content)))
        self.assertEqual(self.client.Parcel.download(self.id, "label"), b"old")

    def test_asyncio_sends_pieces_too(self) -> None:
        async def work() -> Any:
            async with AsyncTildebase("py-pieces", KEY, URL) as client:
                file = await client.files.upload(LARGE, name="alone.bin", type="video/mp4")
                return await client.Parcel.create({"name": "y", "label": {"hash": file["hash"]}})

        label = asyncio.run(work())["label"]
        self.assertEqual(label, {"hash": hash_of(LARGE), "size": len(LARGE), "type": "video/mp4", "name": "alone.bin"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
