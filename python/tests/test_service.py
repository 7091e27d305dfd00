"""What differs in Python from the scenarios: ``python3 test_service.py <url> <key>``."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import unittest
from datetime import date, datetime, timezone

import httpx

from tildebase import AsyncTildebase, Tildebase, models
from tildebase.make_models import models_of

URL, KEY = sys.argv[1:3]


class Service(unittest.TestCase):
    def test_what_is_imported_is_exported(self) -> None:
        with Tildebase("py-bulk", KEY, URL) as client:
            rows = [{"name": f"Zoë {n}", "email": f"{n}@example.org"} for n in range(1_500)]
            report = client.import_rows("Contact", rows)
            again = client.import_rows("Contact", [{**row, "title": "x"} for row in rows[:3]], upsert="email")
            tried = client.import_rows("Contact", [{"name": 7}], dry_run=True)

            self.assertEqual((report["imported"], again["updated"], tried["errors"]), (1_500, 3, 1))
            self.assertEqual({row["email"] for row in client.export_rows("Contact")}, {row["email"] for row in rows})
            self.assertTrue(b"".join(client.export("Contact", format="csv")).startswith(b"$id,"))

    def test_many_are_imported_in_slices_and_may_refer_to_each_other(self) -> None:
        with Tildebase("py-many", KEY, URL) as client:
            drafts = [{"$id": f"contact_n{n}", "name": f"c{n}"} for n in range(10_001)]
            drafts[0]["manager"] = "contact_n10000"
            made = client.Contact.create_many([*drafts, drafts[1]])

            self.assertEqual((made["created"], [one["row"] for one in made["rejected"]]), (10_001, [10_001]))
            self.assertEqual(client.Contact.get("contact_n0")["manager"], "contact_n10000")
            self.assertEqual(client.Contact.count(), 10_001)

    def test_async_import_and_export(self) -> None:
        async def work() -> int:
            async with AsyncTildebase("py-bulk-async", KEY, URL) as client:
                await client.import_rows("Deal", [{"name": "a"}, {"name": "b"}])
                return len([row async for row in client.export_rows("Deal")])

        self.assertEqual(asyncio.run(work()), 2)

    def test_times_and_days_are_values_and_as_of_takes_a_seq(self) -> None:
        with Tildebase("py-values", KEY, URL) as client:
            due = datetime(2030, 1, 2, 3, 4, tzinfo=timezone.utc)
            deal = client.Deal.create({"name": "d", "expectedCloseDate": date(2030, 1, 2), "lastActivityAt": due})
            client.Deal.update(deal["$id"], {"name": "e"})

            self.assertEqual((deal["expectedCloseDate"], deal["lastActivityAt"]), ("2030-01-02", "2030-01-02T03:04:00.000Z"))
            self.assertEqual(client.Deal.find({"lastActivityAt": {"$gte": due}}).total, 1)
            self.assertEqual(client.Deal.find({"lastActivityAt": {"$gt": due}}).total, 0)
            self.assertEqual(client.Deal.get(deal["$id"], as_of=1)["name"], "d")
            self.assertIsNone(client.Deal.get(""))
            with self.assertRaisesRegex(TypeError, "set is not a JSON value"):
                client.Deal.create({"name": "d", "tags": {"a"}})

    def test_a_datetime_is_a_time(self) -> None:
        with Tildebase("py-time", KEY, URL) as client:
            before = datetime.now(timezone.utc)
            contacts = client.of(models.Contact)
            ada = contacts.create({"name": "Ada"})
            self.assertEqual(ada["stage"], "Lead")
            self.assertEqual(contacts.count(as_of=before), 0)

    def test_models_are_made_for_the_types_of_a_tenant(self) -> None:
        with Tildebase("py-models", KEY, URL) as client:
            client.request("PUT", "/schema/Boat", body={"name": "string!", "knots": "number", "state": "Afloat | Sunk"})
            text = models_of(client.request("GET", "/openapi.json"))
            made: dict[str, object] = {}
            exec(text, made)
            self.assertIn('"state": Literal[\'Afloat\', \'Sunk\'],', text)
            self.assertEqual(made["Boat"].__name__, "Boat")  # type: ignore[attr-defined]

    def test_a_file_is_stored_read_as_of_a_time_and_linked(self) -> None:
        with Tildebase("py-files", KEY, URL) as client:
            asset = client.Asset.create({"name": "Contract"})
            first = client.Asset.upload(asset["$id"], "file", b"one", name="a b.txt", type="text/plain")
            client.Asset.upload(asset["$id"], "file", b"two", name="b.txt", type="text/plain")

            self.assertEqual(first["file"]["size"], 3)
            self.assertEqual(client.Asset.download(asset["$id"], "file"), b"two")
            self.assertEqual(client.Asset.download(asset["$id"], "file", as_of=first["$updatedAt"]), b"one")
            self.assertIn("http", client.Asset.link(asset["$id"], "file", expires="10m")["url"])
            value = client.files.upload(b"three", name="c.txt", type="text/plain")
            other = client.Asset.create({"name": "Other", "file": {"hash": value["hash"]}})
            self.assertEqual(client.Asset.download(other["$id"], "file"), b"three")

    def test_a_large_file_is_read_in_parts(self) -> None:
        content = bytes(range(256)) * 4_096
        with Tildebase("py-chunks", KEY, URL) as client:
            asset = client.Asset.create({"name": "Film"})
            client.Asset.upload(asset["$id"], "file", content, name="film.bin")
            parts = list(client.Asset.chunks(asset["$id"], "file"))
        self.assertGreater(len(parts), 1)
        self.assertEqual(b"".join(parts), content)

    def test_what_a_fork_did_is_proposed_and_approved(self) -> None:
        with Tildebase("py-fork", KEY, URL) as client:
            ada = client.Contact.create({"name": "Ada"})
            httpx.post(
                f"{URL}/operator/tenants/py-fork/fork",
                json={"to": "py-forked"},
                headers={"authorization": f"Bearer {KEY}"},
                timeout=60,
            ).raise_for_status()
            with Tildebase("py-forked", KEY, URL) as fork:
                fork.Contact.update(ada["$id"], {"title": "Dr"})
            proposal = client.changesets.from_fork("py-forked", title="Titles")
            before = client.Contact.get(ada["$id"]).get("title")
            reviewer = client.ApiKey.create({"name": "reviewer", "scopes": "write:crm"})["secret"]
            with Tildebase("py-fork", reviewer, URL) as other:
                other.changesets.approve(proposal["$id"])

            self.assertEqual((proposal["title"], before), ("Titles", None))
            self.assertEqual(client.Contact.get(ada["$id"])["title"], "Dr")

    def test_a_question_is_listed_and_answered(self) -> None:
        with Tildebase("py-asks", KEY, URL) as operator:
            key = operator.ApiKey.create({"name": "k", "scopes": "admin:all,approve:own"})["secret"]
        with Tildebase("py-asks", key, URL) as client:
            ask = {"of": "role:Admin", "title": "Go on?", "fields": {"note": "string"}}
            workflow = client.Workflow.create({"name": "w", "triggerEvent": "Contact.created", "steps": [{"ask": ask}]})
            client.Workflow.run(workflow["$id"], "activate")
            client.Contact.create({"name": "Ada"})
            deadline = time.monotonic() + 10
            while (page := client.asks.list(limit=5))["total"] == 0 and time.monotonic() < deadline:
                time.sleep(0.05)
            asked = page["results"][0]
            answered = client.asks.answer(asked["id"], "Approved", {"note": "yes"})

            self.assertEqual((asked["title"], asked["status"]), ("Go on?", "Open"))
            self.assertEqual((answered["status"], answered["answer"]["note"]), ("Answered", "yes"))
            self.assertEqual(client.asks.get(asked["id"]), answered)

    def test_runs_of_a_workflow_are_listed_read_retried_and_cancelled(self) -> None:
        with Tildebase("py-runs", KEY, URL) as client:
            wrong = {"verb": "update", "type": "Contact", "id": "contact_unknown", "args": {"title": "x"}}
            for name, step in (("waits", {"ask": {"of": "role:Admin", "title": "Go on?"}}), ("fails", wrong)):
                made = client.Workflow.create({"name": name, "triggerEvent": "Contact.created", "steps": [step]})
                client.Workflow.run(made["$id"], "activate")
            waits, fails = [client.Workflow.find_one({"name": name})["$id"] for name in ("waits", "fails")]
            client.Contact.create({"name": "Ada"})
            waiting, failed = self.run_of(client, waits, "Waiting"), self.run_of(client, fails, "Failed")

            self.assertEqual(client.runs.get(waits, waiting)["steps"][0]["status"], "Waiting")
            self.assertEqual(client.runs.cancel(waits, waiting)["status"], "Cancelled")
            self.assertEqual(client.runs.retry(fails, failed)["retryOf"], failed)

    def run_of(self, client: Tildebase, workflow: str, status: str) -> str:
        deadline = time.monotonic() + 60
        while not (page := client.runs.list(workflow, status=status, limit=1)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return page[0]["id"]

    def test_an_upsert_of_many_threads_makes_one_entity(self) -> None:
        made: list[str] = []
        with Tildebase("py-upsert", KEY, URL) as client:
            client.Contact.create({"name": "Other"})

            def upsert(score: int) -> None:
                made.append(client.Contact.upsert({"email": "ada@example.com"}, {"name": "Ada", "leadScore": score})["$id"])

            threads = [threading.Thread(target=upsert, args=(score,)) for score in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual((len(made), len(set(made))), (8, 1))

    def test_a_proof_is_a_page_and_a_tenant_has_a_namespace(self) -> None:
        with Tildebase("py-proof", KEY, URL) as client:
            made = client.Contact.create({"name": "Ada"})
            self.assertIn("<html", client.proof.page(1))
            self.assertEqual((client.context, made["$context"]), (f"{URL}/~py-proof", f"{URL}/~py-proof"))

    def test_a_live_list_follows_its_changes(self) -> None:
        with Tildebase("py-live", KEY, URL) as client:
            ada = client.Contact.create({"name": "Ada"})
            pages = client.Contact.live({"stage": "Lead"})
            seen = [[one["name"] for one in next(pages)]]
            client.Contact.create({"name": "Bob"})
            seen.append([one["name"] for one in next(pages)])
            client.Contact.qualify(ada["$id"])
            seen.append([one["name"] for one in next(pages)])
            pages.close()
        self.assertEqual(seen, [["Ada"], ["Bob", "Ada"], ["Bob"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
