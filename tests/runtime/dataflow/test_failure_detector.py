"""A closed connection tells of an ended process; strangers are not listened to."""

import contextlib
import socket
import subprocess
import sys
from queue import SimpleQueue

import pytest

from polysched.runtime.dataflow.failure_detector import FailureDetector, Ticket, hold

HOLDS = """
import sys, time
from polysched.runtime.dataflow.failure_detector import Ticket, hold
line = hold(Ticket(host=sys.argv[1], port=int(sys.argv[2]), name=sys.argv[3], secret=sys.argv[4]), seconds=10)
print("holds" if line else "alone", flush=True)
time.sleep(60)
"""


@pytest.fixture
def lost():
    return SimpleQueue()


@pytest.fixture
def detector(lost):
    made = FailureDetector("127.0.0.1", lost.put)
    yield made
    made.close()


def test_a_killed_process_is_heard_of(detector, lost) -> None:
    first, second = detector.ticket(), detector.ticket()
    processes = [subprocess.Popen([sys.executable, "-c", HOLDS, t.host, str(t.port), t.name, t.secret],
                                  stdout=subprocess.PIPE, text=True) for t in (first, second)]
    try:
        assert [p.stdout.readline().strip() for p in processes] == ["holds", "holds"]
        assert lost.empty()
        for process, ticket in zip(reversed(processes), (second, first), strict=True):
            process.kill()
            assert lost.get(timeout=30) == ticket.name
        assert lost.empty()
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_greeting_may_come_in_pieces(detector, lost) -> None:
    ticket = detector.ticket()
    with socket.create_connection((ticket.host, ticket.port)) as line:
        for byte in f"{ticket.secret} {ticket.name}\n".encode():
            line.sendall(bytes([byte]))
    assert lost.get(timeout=30) == ticket.name


@pytest.mark.parametrize("said", [b"", b"other process-0\n", b"x" * 100_000, b"\xff\xfe\n", b"\n", b"no end"])
def test_strangers_are_not_listened_to(detector, lost, said: bytes) -> None:
    ticket = detector.ticket()
    with socket.create_connection((ticket.host, ticket.port)) as line, contextlib.suppress(OSError):
        line.sendall(said)   # it may be closed by the detector already
    held = hold(ticket, seconds=10)
    assert held is not None
    held.close()
    assert lost.get(timeout=30) == ticket.name   # the only one, and the detector still listens
    assert lost.empty()


def test_where_nobody_listens_there_is_no_connection() -> None:
    assert hold(Ticket(host="127.0.0.1", port=1, name="n", secret="s"), seconds=1) is None


def test_after_close_nothing_is_told(lost) -> None:
    detector = FailureDetector("127.0.0.1", lost.put)
    held = hold(detector.ticket(), seconds=10)
    detector.close()
    assert held is not None
    held.close()
    assert lost.empty()
