"""The newest values by key, for calls from several threads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The newest values by key; the oldest go.

    Parameters
    ----------
    most : values that are kept, at least one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}
        self._changing = Lock()
        self.get = self._values.get
        """The value of a key, or None; without a lock, since looking up is one step."""

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value, as the newest one; it is also the result."""
        with self._changing:
            self._values.pop(key, None)
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = value
        return value

    def find_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value that is kept, or a new one; threads that ask at the same time may each make one."""
        try:
            return self._values[key]
        except KeyError:
            return self.keep(key, make())
