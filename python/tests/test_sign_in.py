"""People who sign in: ``python3 test_sign_in.py <url> <key>``."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import unittest
from typing import Any

import httpx

from tildebase import AsyncOAuth, AsyncSession, AsyncTildebase, OAuth, PendingOAuth, Problem, Session, Tildebase, Tokens

URL, KEY = sys.argv[1:3]
PASSWORD = "correct horse battery"
REDIRECT = "http://127.0.0.1:4711/callback"


def member(email: str) -> Session:
    """A person who accepted the invitation."""
    with Tildebase("py-people", KEY, URL) as client:
        user = client.User.create({"name": "Ada", "email": email, "role": "Member"})
        invitation = client.User.invite(user["$id"])["invitation"]  # type: ignore[call-overload]
    return Session.accept_invitation("py-people", invitation.split("#")[1], PASSWORD, URL)


def decide(who: Session, address: str, decision: str = "allow") -> str:
    """Opens the page of consent in the browser of a person, sends its form, and returns where that leads to."""
    headers = dict(who.headers("POST"))
    page = httpx.get(address, headers=headers, timeout=60).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    fields |= dict(re.findall(r'<select name="(\w+)">\s*<option value="([^"]*)"', page))
    form = {**fields, "decision": decision}
    reply = httpx.post(f"{URL}/~py-people/oauth/authorize", data=form, headers=headers, timeout=60)
    return reply.headers["location"]


class Passwords(unittest.TestCase):
    def test_a_person_signs_in_acts_and_signs_out(self) -> None:
        member("ada@example.org")
        session = Session.sign_in("py-people", "ada@example.org", PASSWORD, URL)
        with Tildebase("py-people", base_url=URL, auth=session) as client:
            made = client.Contact.create({"name": "Ada"})
            actor = client.Contact.history(made["$id"])[0]["actor"]

            self.assertEqual((session.user["email"], session.user["role"]), ("ada@example.org", "Member"))
            self.assertEqual(actor, session.user["$id"])
            session.end()
            with self.assertRaises(Problem) as raised:
                client.Contact.count()
            self.assertEqual(raised.exception.code, "unauthorized")

    def test_a_wrong_password_is_refused_in_a_sentence(self) -> None:
        member("eve@example.org")
        with self.assertRaises(Problem) as raised:
            Session.sign_in("py-people", "eve@example.org", "not the password", URL)
        self.assertEqual(raised.exception.message, "The e-mail address or the password is wrong.")

    def test_asyncio_signs_in_too(self) -> None:
        member("zoe@example.org")

        async def work() -> tuple[Any, Any]:
            session = await AsyncSession.sign_in("py-people", "zoe@example.org", PASSWORD, URL)
            async with AsyncTildebase("py-people", base_url=URL, auth=session) as client:
                made = await client.Contact.create({"name": "Zoë"})
            await session.end()
            return made["$createdBy"], session.user["$id"]

        creator, user = asyncio.run(work())
        self.assertEqual(creator, user)

    def test_neither_key_nor_sign_in_is_refused(self) -> None:
        with self.assertRaises(Problem) as raised:
            Tildebase("py-people", base_url=URL)
        self.assertEqual(raised.exception.code, "invalid_key")


class Applications(unittest.TestCase):
    who: Session

    @classmethod
    def setUpClass(cls) -> None:
        cls.who = member("bob@example.org")

    def consent(self, decision: str = "allow") -> tuple[PendingOAuth, str]:
        address, pending = OAuth.start("py-people", REDIRECT, URL, scopes=["write:crm"])
        return json.loads(json.dumps(pending)), decide(self.who, address, decision)

    def client(self, oauth: OAuth) -> Tildebase:
        return Tildebase("py-people", base_url=URL, auth=oauth)

    def test_an_application_gets_the_rights_that_a_person_allows_until_it_ends(self) -> None:
        oauth = OAuth.finish(*self.consent())
        client = self.client(oauth)

        self.assertEqual(oauth.tokens["scopes"], ["write:crm"])
        self.assertEqual(client.Contact.create({"name": "Ada"})["name"], "Ada")
        with self.assertRaises(Problem) as raised:
            client.Ticket.create({"subject": "x"})
        self.assertEqual(raised.exception.code, "forbidden")
        oauth.end()
        with self.assertRaises(Problem) as raised:
            client.Contact.count()
        self.assertEqual(raised.exception.code, "unauthorized")

    def test_tokens_are_renewed_before_they_end_once_for_all_threads(self) -> None:
        tokens = OAuth.finish(*self.consent()).tokens
        seen: list[Tokens] = []
        counts: list[int] = []
        client = self.client(OAuth({**tokens, "expires_at": 0}, on_tokens=seen.append))
        threads = [threading.Thread(target=lambda: counts.append(client.Contact.count())) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual((len(counts), len(seen)), (3, 1))
        self.assertNotEqual(seen[0]["access_token"], tokens["access_token"])

    def test_tokens_are_renewed_after_a_refusal_once_for_all_tasks(self) -> None:
        tokens = OAuth.finish(*self.consent()).tokens
        seen: list[Tokens] = []

        async def work() -> list[int]:
            oauth = AsyncOAuth({**tokens, "access_token": "tba_ended"}, on_tokens=seen.append)
            async with AsyncTildebase("py-people", base_url=URL, auth=oauth) as client:
                return await asyncio.gather(*(client.Contact.count() for _ in range(3)))

        self.assertEqual((len(asyncio.run(work())), len(seen)), (3, 1))

    def test_a_refresh_token_that_has_ended_is_refused_in_a_sentence(self) -> None:
        oauth = OAuth.finish(*self.consent())
        oauth.end()
        with self.assertRaises(Problem) as raised:
            self.client(oauth).Contact.count()
        problem = raised.exception
        self.assertEqual((problem.code, problem.about["oauth"]), ("unauthorized", "invalid_grant"))

    def test_a_person_may_refuse(self) -> None:
        with self.assertRaises(Problem) as raised:
            OAuth.finish(*self.consent("deny"))
        self.assertEqual((raised.exception.code, raised.exception.about), ("forbidden", {"oauth": "access_denied"}))

    def test_an_answer_to_another_question_is_refused(self) -> None:
        pending, address = self.consent()
        with self.assertRaises(Problem) as raised:
            OAuth.finish({**pending, "state": "other"}, address)
        self.assertEqual(raised.exception.code, "forbidden")
        with self.assertRaises(Problem) as raised:
            OAuth.finish({**pending, "verifier": "x" * 43}, address)
        self.assertEqual((raised.exception.code, raised.exception.about["oauth"]), ("unauthorized", "invalid_grant"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
