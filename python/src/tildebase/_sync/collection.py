# Written by python/generate.py. Do not edit.
"""One type of a tenant: to find, to read, to write, and every verb as a method."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ..content import Source, Upload, UploadProgress
from ..imports import ImportReport
from ..live import after
from ..problem import Problem, problem_in
from ..values import AsOf, Entity, Filter, Json, Page, Sort, Time, as_of_text, get_query, json_text, list_query, time_text
from ..wire import LONGEST_FILTER, part
from .files import send_pieces, send_whole
from .imports import Import
from .transport import Transport

E = TypeVar("E", bound=Mapping[str, Any])

LARGEST_PAGE = 100
LARGEST_BATCH = 100
#: More are imported.
MOST_BY_BATCH = 1_000
#: So often a list of files is read again when another client changed it.
TRIES = 5


class Collection(Generic[E]):
    """The entities of one type. A name that is not a method is a verb: ``contacts.qualify(id)``."""

    def __init__(self, transport: Transport, root: str, name: str) -> None:
        self._transport = transport
        self._root = root
        self._name = name
        self._path = f"{root}/{part(name)}"

    def find(
        self,
        filter: Filter | None = None,
        *,
        sort: Sort | None = None,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        include: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        as_of: AsOf | None = None,
    ) -> Page[E]:
        """A page of entities, 25 by default."""
        query = list_query(
            filter, sort=sort, limit=limit, offset=offset, cursor=cursor, include=include, fields=fields, as_of=as_of
        )
        return Page.of(self._ask("", query))

    def find_one(
        self,
        filter: Filter | None = None,
        *,
        sort: Sort | None = None,
        include: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        as_of: AsOf | None = None,
    ) -> E | None:
        """The first entity, or None."""
        page = self.find(filter, sort=sort, limit=1, include=include, fields=fields, as_of=as_of)
        return page[0] if page else None

    def all(
        self,
        filter: Filter | None = None,
        *,
        sort: Sort | None = None,
        include: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        as_of: AsOf | None = None,
    ) -> Generator[E, None, None]:
        """Every entity, page by page as it is asked for."""
        cursor: str | None = None
        while True:
            page = self.find(
                filter, sort=sort, limit=LARGEST_PAGE, cursor=cursor, include=include, fields=fields, as_of=as_of
            )
            for entity in page:
                yield entity
            if not page.has_more:
                return
            cursor = page.cursor

    def live(
        self,
        filter: Filter | None = None,
        *,
        sort: Sort | None = None,
        limit: int | None = None,
        include: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
    ) -> Generator[Page[E], None, None]:
        """The list now, and again after each change. Reconnects automatically."""
        query = list_query(filter, sort=sort, limit=limit, include=include, fields=fields)
        page: Page[E] | None = None
        for message in self._transport.follow(self._path, lambda _: query):
            page = after(page, message, sort is not None)
            if page is None:
                page = self.find(filter, sort=sort, limit=limit, include=include, fields=fields)
            yield page

    def get(
        self,
        id: str,
        *,
        include: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        as_of: AsOf | None = None,
    ) -> E | None:
        """One entity by its id; None when there is none."""
        try:
            # The path of the empty id is that of the list.
            if id == "":
                return None
            found: E = self._transport.json("GET", self._at(id), query=get_query(include, fields, as_of))
            return found
        except Problem as problem:
            if problem.code == "not_found":
                return None
            raise

    def count(self, filter: Filter | None = None, *, as_of: AsOf | None = None) -> int:
        return int((self._ask("/count", list_query(filter, as_of=as_of)))["count"])

    def aggregate(
        self,
        filter: Filter | None = None,
        *,
        group: Sequence[str] | None = None,
        sum: Sequence[str] | None = None,
        avg: Sequence[str] | None = None,
        min: Sequence[str] | None = None,
        max: Sequence[str] | None = None,
        as_of: AsOf | None = None,
    ) -> list[dict[str, Json]]:
        """Counts and measures by group, the largest first."""
        measures = {"group": group, "sum": sum, "avg": avg, "min": min, "max": max}
        words = {name: ",".join(paths) for name, paths in measures.items() if paths}
        results: list[dict[str, Json]] = (self._ask("/aggregate", {**list_query(filter, as_of=as_of), **words}))[
            "results"
        ]
        return results

    def history(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Json]]:
        """The versions of an entity, deleted ones included, newest first."""
        query = {"limit": limit, "cursor": cursor}
        return Page.of(self._transport.json("GET", f"{self._at(id)}/history", query=query))

    def diff(self, id: str, start: int | Time, end: int | Time) -> dict[str, Json]:
        """What changed between two versions, or between two times."""
        query = {"from": _version_text(start), "to": _version_text(end)}
        changes: dict[str, Json] = self._transport.json("GET", f"{self._at(id)}/diff", query=query)
        return changes

    def timers(self, id: str) -> list[dict[str, Json]]:
        """The pending timers of an entity."""
        timers: list[dict[str, Json]] = (self._transport.json("GET", f"{self._at(id)}/timers"))["timers"]
        return timers

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None = None) -> E:
        headers = {"idempotency-key": idempotency_key}
        made: E = self._transport.json("POST", self._path, body=dict(draft), headers=headers)
        return made

    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
        """Creates many, each separately: ``{"created": 2, "rejected": [{"row": 0, "error": "…"}]}``."""
        if len(drafts) > MOST_BY_BATCH:
            report = ImportReport(len(drafts))
            path = f"{self._root}/import/{part(self._name)}"
            done = Import(self._transport, path, failures=0, report=report).send(drafts)
            refused = [{"row": one["row"], "error": one["error"]} for one in done["details"]]
            return {"created": done["imported"], "rejected": refused}
        rejected: list[dict[str, Json]] = []
        for start in range(0, len(drafts), LARGEST_BATCH):
            operations = [
                {"id": f"row{start + index}", "method": "POST", "path": part(self._name), "body": dict(draft)}
                for index, draft in enumerate(drafts[start : start + LARGEST_BATCH])
            ]
            answer = self._transport.json("POST", f"{self._root}/batch", body={"operations": operations})
            for index, result in enumerate(answer["results"]):
                if result["status"] >= 300:
                    rejected.append({"row": start + index, "error": result["body"].get("message", "")})
        return {"created": len(drafts) - len(rejected), "rejected": rejected}

    def upsert(self, match: Mapping[str, Any], draft: Mapping[str, Any]) -> E:
        """Creates the entity that ``match`` identifies, or changes the fields in which it differs from ``draft``."""
        for is_last in (False, True):
            known = self.find(match, limit=2)
            if len(known) > 1:
                names = ", ".join(match)
                raise Problem("conflict", f"Several {self._name} entities have this {names}. Upsert by a unique field.")
            if known:
                news = {name: value for name, value in draft.items() if known[0].get(name) != value}
                return known[0] if not news else self.update(known[0]["$id"], news)
            try:
                return self.create({**match, **draft})
            except Problem as problem:
                # Another client created it in the meantime.
                if is_last or problem.code != "conflict":
                    raise
        raise AssertionError("unreachable")

    def update(self, id: str, patch: Mapping[str, Any], *, if_version: int | None = None) -> E:
        """Changes the fields that are given; None clears one."""
        return self.run(id, "update", patch, if_version=if_version)

    def delete(self, id: str, *, if_version: int | None = None) -> None:
        """A soft delete: the past stays readable, and ``restore`` brings it back."""
        self._post(id, "delete", {}, if_version)

    def restore(self, id: str) -> E:
        return self.run(id, "restore")

    def rollback(self, id: str, *, as_of: AsOf) -> E:
        """Makes a new version that equals the state at a time."""
        return self.run(id, "rollback", {"asOf": as_of_text(as_of)})

    def run(
        self, id: str, verb: str, args: Mapping[str, Any] | None = None, *, if_version: int | None = None
    ) -> E:
        """Runs a verb."""
        entity: E = self._post(id, verb, dict(args or {}), if_version)
        return entity

    def upload(
        self,
        id: str,
        field: str,
        content: Source,
        *,
        name: str | None = None,
        type: str = "application/octet-stream",
        if_version: int | None = None,
        on_progress: Callable[[UploadProgress], object] | None = None,
        resume: str | None = None,
    ) -> E:
        """Stores content in a field of kind file; a list of files gets one more.

        Large content is sent in pieces. ``resume`` takes the ``upload`` of an earlier call with the same content, as
        ``on_progress`` got it, and continues it.
        """
        upload = Upload(content, name, type, on_progress, resume)
        if upload.is_whole:
            entity: E = send_whole(self._transport, self._file(id, field, None), upload, _if_match(if_version))
            return entity
        file = send_pieces(self._transport, self._root, upload)
        return self._set_file(id, field, {"hash": file["hash"], "name": file["name"]}, if_version)

    def _set_file(self, id: str, field: str, file: Mapping[str, Json], if_version: int | None) -> E:
        """Names content that has been sent. A list gets it at its end, also when others change the list meanwhile."""
        schema = self._transport.json("GET", f"{self._root}/schema/{part(self._name)}")
        if not schema["fields"].get(field, {}).get("list"):
            return self.update(id, {field: file}, if_version=if_version)
        tries = 1
        while True:
            known = self.get(id)
            own, version = (None, None) if known is None else (known.get(field), known.get("$version"))
            try:
                return self.update(id, {field: [*(own or []), file]}, if_version=if_version or version)
            except Problem as problem:
                if problem.code != "version_mismatch" or if_version is not None or tries == TRIES:
                    raise
                tries += 1

    def download(self, id: str, field: str, *, index: int | None = None, as_of: AsOf | None = None) -> bytes:
        """The content of a field of kind file, or of one file of a list."""
        return b"".join([chunk for chunk in self.chunks(id, field, index=index, as_of=as_of)])

    def chunks(
        self, id: str, field: str, *, index: int | None = None, as_of: AsOf | None = None
    ) -> Generator[bytes, None, None]:
        """The content as it arrives, for what is too large for the memory."""
        query = {"asOf": None if as_of is None else as_of_text(as_of)}
        for chunk in self._transport.chunks(self._file(id, field, index), query):
            yield chunk

    def link(self, id: str, field: str, *, expires: str, index: int | None = None) -> dict[str, Json]:
        """An address that shows the content without a key until it expires: ``{"url", "expires"}``."""
        body = {"expires": expires}
        link: dict[str, Json] = self._transport.json("POST", f"{self._file(id, field, index)}/link", body=body)
        return link

    def __getattr__(self, verb: str) -> Callable[..., E]:
        if verb.startswith("_"):
            raise AttributeError(verb)

        def method(id: str, args: Mapping[str, Any] | None = None, *, if_version: int | None = None) -> E:
            return self.run(id, verb, args, if_version=if_version)

        return method

    def _post(self, id: str, verb: str, body: Mapping[str, Any], if_version: int | None) -> Any:
        headers = _if_match(if_version)
        return self._transport.json("POST", f"{self._at(id)}/{part(verb)}", body=dict(body), headers=headers)

    def _ask(self, rest: str, query: Mapping[str, Any]) -> Any:
        """Asks for a list: by its address, or in a batch of one when the filter is long."""
        if len(json_text(query.get("filter"))) <= LONGEST_FILTER:
            return self._transport.json("GET", f"{self._path}{rest}", query=query)
        known = {name: value for name, value in query.items() if value is not None}
        operation = {"id": "list", "method": "GET", "path": f"{part(self._name)}{rest}", "query": known}
        answer = self._transport.json("POST", f"{self._root}/batch", body={"operations": [operation]})
        result = answer["results"][0]
        if result["status"] == 200:
            return result["body"]
        raise problem_in(result["body"], result["status"])

    def _at(self, id: str) -> str:
        return f"{self._path}/{part(id)}"

    def _file(self, id: str, field: str, index: int | None) -> str:
        return f"{self._at(id)}/{part(field)}" + ("" if index is None else f"/{index}")


def _if_match(if_version: int | None) -> dict[str, str | None]:
    return {"if-match": None if if_version is None else f'"{if_version}"'}


def _version_text(version: int | Time) -> str:
    return str(version) if isinstance(version, int) else time_text(version)


AnyCollection = Collection[Entity]
