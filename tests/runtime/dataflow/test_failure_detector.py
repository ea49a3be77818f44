"""A closed connection tells of an ended process; strangers are not listened to."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from queue import SimpleQueue

import pytest

from polysched.runtime.dataflow import failure_detector
from polysched.runtime.dataflow.failure_detector import FailureDetector, Ticket, hold

HOLDS = """
import sys, time
from polysched.runtime.dataflow.failure_detector import Ticket, hold
line = hold(Ticket(host=sys.argv[1], port=int(sys.argv[2]), name=sys.argv[3], secret=sys.argv[4]), seconds=10)
print("apart" if line.apart else "holds" if line.line else "alone", flush=True)
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
        assert [p.stdout.readline().strip() for p in processes] == ["apart" if sys.platform == "linux" else "holds"] * 2
        assert lost.empty()
        for process, ticket in zip(reversed(processes), (second, first), strict=True):
            process.kill()
            assert lost.get(timeout=30) == ticket.name
        assert lost.empty()
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def tell_of_an_end(ticket: Ticket) -> None:
    with socket.create_connection((ticket.host, ticket.port)) as line:
        line.sendall(f"{ticket.secret} {ticket.name}\n".encode())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a thread files of its own")
def test_a_thread_holds_the_connection_and_no_other_file(lost) -> None:
    detector = FailureDetector("127.0.0.1", lost.put)
    reading, writing = os.pipe()
    held = hold(detector.ticket(), seconds=10)
    assert (held.line, held.apart) == (None, True)
    os.close(writing)
    assert os.read(reading, 1) == b""   # nobody else holds the end for writing
    os.close(reading)
    assert lost.empty()
    detector.close()
    for thread in threading.enumerate():
        if thread.name == "polysched-alive":
            thread.join(30)   # when the other side has closed
            assert not thread.is_alive()


def test_the_connection_is_shared_where_the_system_does_not_tell_open_files(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(failure_detector, "_FILES", str(tmp_path / "absent"))
    apart: SimpleQueue[bool] = SimpleQueue()
    failure_detector._hold_apart(0, apart)
    assert apart.get() is False



def test_where_a_thread_has_no_files_of_its_own_all_share_the_connection(detector, lost, monkeypatch) -> None:
    monkeypatch.setattr(failure_detector, "_unshare_files", lambda: False)
    ticket = detector.ticket()
    held = hold(ticket, seconds=10)
    assert not held.apart
    assert held.line is not None
    assert lost.empty()
    held.line.close()
    assert lost.get(timeout=30) == ticket.name


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
    tell_of_an_end(ticket)
    assert lost.get(timeout=30) == ticket.name   # the only one, and the detector still listens
    assert lost.empty()


def test_where_nobody_listens_there_is_no_connection() -> None:
    held = hold(Ticket(host="127.0.0.1", port=1, name="n", secret="s"), seconds=1)
    assert (held.line, held.apart) == (None, False)


def test_after_close_nothing_is_told(lost) -> None:
    detector = FailureDetector("127.0.0.1", lost.put)
    ticket = detector.ticket()
    line = socket.create_connection((ticket.host, ticket.port))
    line.sendall(f"{ticket.secret} {ticket.name}\n".encode())
    detector.close()
    line.close()
    assert lost.empty()
