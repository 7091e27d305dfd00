"""The Python client of Tildebase."""

from ._async.client import AsyncProposal, AsyncTildebase
from ._async.collection import AsyncCollection
from ._sync.client import Proposal, Tildebase
from ._sync.collection import Collection
from .batch import BatchAnswer, Operations, Ref, Step
from .problem import Problem
from .values import Entity, Event, Page
from .webhooks import verify_webhook
from .wire import UnknownFieldWarning

__all__ = [
    "AsyncCollection",
    "AsyncProposal",
    "AsyncTildebase",
    "BatchAnswer",
    "Collection",
    "Entity",
    "Event",
    "Operations",
    "Page",
    "Problem",
    "Proposal",
    "Ref",
    "Step",
    "Tildebase",
    "UnknownFieldWarning",
    "verify_webhook",
]
