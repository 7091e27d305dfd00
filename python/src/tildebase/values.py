"""The values that the client takes and gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, Generic, Literal, TypedDict, TypeVar, Union, overload

Json = Any
Time = Union[str, datetime]
#: What ``as_of`` takes: a time, or the ``seq`` of an event.
AsOf = Union[Time, int]
Filter = Mapping[str, Json]
Sort = Union[str, Mapping[str, Literal[1, -1]]]
Entity = dict[str, Json]
E = TypeVar("E")

#: One record of the log, as events and webhooks give it.
Event = TypedDict(
    "Event",
    {
        "seq": int,
        "id": str,
        "type": str,
        "timestamp": str,
        "tenant": str,
        "data": dict[str, Json],
        "previous": dict[str, Json],
        "args": dict[str, Json],
        "verb": str,
        "entityType": str,
        "entityId": str,
        "version": int,
        "actor": str,
    },
    total=False,
)


class Page(Sequence[E], Generic[E]):
    """Results as a sequence, with the number of matches and the cursor of the next page."""

    def __init__(self, results: Sequence[E], total: int | None, has_more: bool, cursor: str | None) -> None:
        self._results = list(results)
        self.total = total
        self.has_more = has_more
        self.cursor = cursor

    @classmethod
    def of(cls, envelope: Mapping[str, Json]) -> "Page[Any]":
        cursor = envelope.get("cursor")
        return cls(
            envelope["results"],
            envelope.get("total"),
            bool(envelope.get("hasMore", False)),
            None if cursor is None else str(cursor),
        )

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __eq__(self, other: object) -> bool:
        return self._results == (other._results if isinstance(other, Page) else other)

    def __repr__(self) -> str:
        return f"Page({self._results!r}, total={self.total}, has_more={self.has_more})"


def time_text(time: Time) -> str:
    """A time as the service reads it. A datetime without a time zone is local time."""
    if isinstance(time, str):
        return time
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_of_text(as_of: AsOf) -> str:
    return str(as_of) if isinstance(as_of, int) else time_text(as_of)


def json_text(value: Any) -> str:
    """A value as JSON, with datetimes as times and dates as days."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not a JSON value.")


def sort_text(sort: Sort | None) -> str | None:
    """``{"stage": 1, "value": -1}`` as ``stage,-value``."""
    if sort is None or isinstance(sort, str):
        return sort
    return ",".join(f"-{field}" if way == -1 else field for field, way in sort.items()) or None


def get_query(
    include: Sequence[str] | None = None, fields: Sequence[str] | None = None, as_of: AsOf | None = None
) -> dict[str, Json]:
    """The parameters of reading one entity."""
    return {
        "include": ",".join(include) if include else None,
        "fields": ",".join(fields) if fields else None,
        "asOf": None if as_of is None else as_of_text(as_of),
    }


def list_query(
    filter: Filter | None = None,
    *,
    sort: Sort | None = None,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
    include: Sequence[str] | None = None,
    fields: Sequence[str] | None = None,
    as_of: AsOf | None = None,
) -> dict[str, Json]:
    """The parameters of a list."""
    return {
        "filter": dict(filter) if filter else None,
        "sort": sort_text(sort),
        "limit": limit,
        "offset": offset,
        "cursor": cursor,
        **get_query(include, fields, as_of),
    }
