"""The Python client of Tildebase."""

from ._async.auth import AsyncAuth
from ._async.changesets import AsyncProposal
from ._async.client import AsyncTildebase
from ._async.collection import AsyncCollection
from ._sync.auth import Auth
from ._sync.changesets import Proposal
from ._sync.client import Tildebase
from ._sync.collection import Collection
from .batch import BatchAnswer, Operations, Ref, Step
from .content import UploadProgress
from .problem import Problem
from .values import Entity, Event, Page
from .webhooks import verify_webhook
from .wire import UnknownFieldWarning

__all__ = [
    "AsyncAuth",
    "AsyncCollection",
    "AsyncProposal",
    "AsyncTildebase",
    "Auth",
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
    "UploadProgress",
    "verify_webhook",
]
