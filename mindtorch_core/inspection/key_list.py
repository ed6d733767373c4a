"""The dispatch keys and aliases as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dispatch.keys import ALIAS_KEYS, ALIAS_MEMBERS, DISPATCH_KEY_PRIORITY, DispatchKey
from .roles import functionality, role_of

__all__ = ["AliasInfo", "KeyInfo", "aliases", "keys"]


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A runtime key.

    Attributes:
        key: the key.
        bit: its place in the order; a higher one wins.
        functionality: what the key is one backend's part of, ``Dense`` for backends themselves.
        purpose: what is registered there.
    """

    key: DispatchKey
    bit: int
    functionality: str
    purpose: str

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "key": self.key.name,
            "bit": self.bit,
            "functionality": self.functionality,
            "purpose": self.purpose,
        }


@dataclass(frozen=True, slots=True)
class AliasInfo:
    """An alias: a group of runtime keys, for registration.

    Attributes:
        key: the alias.
        members: the runtime keys it stands for, highest first.
        purpose: what is registered there.
    """

    key: DispatchKey
    members: tuple[DispatchKey, ...]
    purpose: str

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "alias": self.key.name,
            "members": [member.name for member in self.members],
            "purpose": self.purpose,
        }


def keys() -> tuple[KeyInfo, ...]:
    """The runtime keys, highest first."""
    return tuple(
        KeyInfo(key, key.bit_length() - 1, functionality(key), role_of(key).purpose)
        for key in DISPATCH_KEY_PRIORITY
        if key not in ALIAS_KEYS
    )


def aliases() -> tuple[AliasInfo, ...]:
    """The aliases, in the order in which the rules of the computed table ask for them."""
    return tuple(
        AliasInfo(
            alias,
            tuple(key for key in DISPATCH_KEY_PRIORITY if key & ALIAS_MEMBERS[alias]),
            role_of(alias).purpose,
        )
        for alias in reversed(ALIAS_KEYS)
    )
