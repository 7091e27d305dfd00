"""The Python client of Tildebase."""

from ._async.auth import AsyncAuth
from ._async.changesets import AsyncProposal
from ._async.client import AsyncTildebase
from ._async.collection import AsyncCollection
from ._async.oauth import AsyncOAuth
from ._async.operator import AsyncOperator
from ._async.session import AsyncSession
from ._sync.auth import Auth
from ._sync.changesets import Proposal
from ._sync.client import Tildebase
from ._sync.collection import Collection
from ._sync.oauth import OAuth
from ._sync.operator import Operator
from ._sync.session import Session
from .batch import BatchAnswer, Operations, Ref, Step
from .content import UploadProgress
from .oauth import PendingOAuth, Tokens
from .problem import Problem
from .values import Entity, Event, Page
from .webhooks import verify_webhook
from .wire import UnknownFieldWarning

__all__ = [
    "AsyncAuth",
    "AsyncCollection",
    "AsyncOAuth",
    "AsyncOperator",
    "AsyncProposal",
    "AsyncSession",
    "AsyncTildebase",
    "Auth",
    "BatchAnswer",
    "Collection",
    "Entity",
    "Event",
    "OAuth",
    "Operations",
    "Operator",
    "Page",
    "PendingOAuth",
    "Problem",
    "Proposal",
    "Ref",
    "Session",
    "Step",
    "Tildebase",
    "Tokens",
    "UnknownFieldWarning",
    "UploadProgress",
    "verify_webhook",
]
