"""Hears at once that a process has ended: it holds a connection, which its system closes with it.

A closed connection is seen 5 to 10 ms behind a kill on a busy machine, when the system has given back the process's
memory (`experiments/dataflow`); Ray tells of it after tens of milliseconds.  Ray's own detection stays beside it: for
machines that vanish without closing anything, and for processes that cannot connect.
This module imports nothing of this package: workers load it.
"""

from __future__ import annotations

import secrets
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Thread


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """What a process needs to be watched.

    Parameters
    ----------
    host, port : where the detector listens.
    name : of the process, for the detector.
    secret : of the detector; whoever does not know it is not listened to.
    """

    host: str
    port: int
    name: str
    secret: str


def hold(ticket: Ticket, *, seconds: float) -> socket.socket | None:
    """Connect, in the process that is watched; it keeps the value as long as it lives.  None where nobody answers."""
    try:
        line = socket.create_connection((ticket.host, ticket.port), timeout=seconds)
        line.sendall(_greeting(ticket))
    except OSError:
        return None
    line.settimeout(None)
    return line


def _greeting(ticket: Ticket) -> bytes:
    return f"{ticket.secret} {ticket.name}\n".encode()


class FailureDetector:
    """Listens for processes, and tells of those that end.

    Parameters
    ----------
    host : an address of this machine that the processes reach.
    lost : told the name of a process that ended, in a thread of this value.
    """

    def __init__(self, host: str, lost: Callable[[str], None]) -> None:
        self._lost = lost
        self._listener = socket.create_server((host, 0))
        self._listener.setblocking(False)
        self._secret, self._numbers = secrets.token_hex(16), count()
        self._stop, self._stopped = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._stopped, selectors.EVENT_READ)
        self._said: dict[socket.socket, bytes] = {}   # so far, by those whose greeting is not whole
        self._names: dict[socket.socket, str] = {}
        self._longest = len(_greeting(self.ticket())) + 32
        self._thread = Thread(target=self._listen, name="polysched-failures", daemon=True)
        self._thread.start()

    def ticket(self) -> Ticket:
        """For a process that is about to be started."""
        host, port = self._listener.getsockname()[:2]
        return Ticket(host=host, port=port, name=f"process-{next(self._numbers)}", secret=self._secret)

    def close(self) -> None:
        """Stop listening; processes that end later are not told of."""
        self._stop.send(b"x")
        self._thread.join()
        for line in (*self._said, *self._names, self._listener, self._stop, self._stopped):
            line.close()
        self._selector.close()

    def _listen(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._stopped:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._hear(key.fileobj)

    def _accept(self) -> None:
        try:
            line, _ = self._listener.accept()
        except OSError:   # gone before it was taken
            return
        line.setblocking(False)
        self._said[line] = b""
        self._selector.register(line, selectors.EVENT_READ)

    def _hear(self, line: socket.socket) -> None:
        try:
            said = line.recv(self._longest)
        except BlockingIOError:
            return
        except OSError:   # reset
            said = b""
        if not said:
            self._end(line)
        elif line in self._said:
            self._greeted(line, self._said[line] + said)

    def _greeted(self, line: socket.socket, said: bytes) -> None:
        self._said[line] = said
        if b"\n" not in said and len(said) <= self._longest:
            return
        secret, _, name = said.decode(errors="replace").rstrip("\n").partition(" ")
        if not secrets.compare_digest(secret.encode(), self._secret.encode()):
            self._end(line)
            return
        del self._said[line]
        self._names[line] = name

    def _end(self, line: socket.socket) -> None:
        self._selector.unregister(line)
        line.close()
        self._said.pop(line, None)
        name = self._names.pop(line, None)
        if name is not None:
            self._lost(name)
