"""What the timing process hears: ready, samples, arrays; and a contestant that ends, lies, is silent or hangs up."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from polysched.experiment import conversation
from polysched.experiment.conversation import Conversation, EndedError, SilentError, _sample, read_arrays
from polysched.measure.measurement import Build

BUILD = Build(compiler="gcc", version="gcc 12", flags=("-O3", "-g"), source_sha256="0" * 64, compile_seconds=0.1)
SAMPLE = "sample 0.25 0.125 0.5 3"
Talk = Callable[[str], Conversation]


@pytest.fixture
def talk() -> Iterator[Talk]:
    """A conversation with a shell script."""
    started: list[subprocess.Popen[bytes]] = []

    def begun(script: str) -> Conversation:
        process = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        started.append(process)
        return Conversation(process)

    yield begun
    for process in started:
        process.kill()
        process.communicate()


def test_it_is_ready_with_a_note_and_perhaps_a_build(talk: Talk) -> None:
    plain = talk("echo ready a note of words; read x")
    assert plain.ready(limit_seconds=20) == "a note of words"
    assert plain.build is None
    built = talk(f"echo 'built {json.dumps(asdict(BUILD))}'; echo ready; read x")
    assert built.ready(limit_seconds=20) == ""
    assert built.build == BUILD


def test_every_call_has_a_line(talk: Talk) -> None:
    own = talk(f"echo ready; read asked; echo warmup 1 1 1 0; echo {SAMPLE} cycles=7; echo $asked >&2; echo {SAMPLE}; "
               "echo done; read x")
    own.ready(limit_seconds=20)
    first, second = own.run(warm=1, calls=2, limit_seconds=20)
    assert (first.wall_seconds, first.thread_cpu_seconds, first.process_cpu_seconds) == (0.25, 0.125, 0.5)
    assert (first.involuntary_switches, first.counters, second.counters) == (3, {"cycles": 7}, {})
    assert [s.wall_seconds for s in own.warmups] == [1.0]
    assert own.overhead_seconds >= 0


@pytest.mark.parametrize(("answer", "said"), [
    (f"echo {SAMPLE}; echo done", "it took 0 samples instead of 2|it said 'sample' instead of warmup"),
    (f"echo warmup 1 1 1 0; echo {SAMPLE}; echo done", "it took 1 samples instead of 2"),
    (f"echo warmup 1 1 1 0; echo warmup 1 1 1 0; echo {SAMPLE}; echo done", "it said 'warmup' instead of sample"),
    ("exit 3", "it ended with status 3"), ("echo cannot load >&2; echo no library >&2; exit 1",
                                           "it ended with status 1: no library"),
    ("kill -SEGV $$", "it crashed with SIGSEGV")])
def test_what_is_no_answer_is_told(answer: str, said: str, talk: Talk) -> None:
    own = talk(f"echo ready; read asked; {answer}; read x")
    own.ready(limit_seconds=20)
    with pytest.raises(EndedError, match=said):
        own.run(warm=1, calls=2, limit_seconds=20)


def test_something_else_than_ready_is_no_start(talk: Talk) -> None:
    with pytest.raises(EndedError, match="it said 'hello' instead of ready"):
        talk("echo hello; read x").ready(limit_seconds=20)
    with pytest.raises(EndedError, match="it ended with status 5"):
        talk("exit 5").ready(limit_seconds=20)


def test_who_is_silent_is_killed(talk: Talk) -> None:
    own = talk("exec sleep 600")
    with pytest.raises(SilentError, match="no answer within 0 s"):
        own.ready(limit_seconds=0.05)
    assert own._process.wait() == -9


def test_who_hangs_up_and_goes_on_is_ended(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "END_SECONDS", 0.05)
    with pytest.raises(EndedError, match="it closed its output and went on"):
        talk("exec >&- 2>&-; exec sleep 600").ready(limit_seconds=20)


def test_it_is_stopped_except_while_it_answers(talk: Talk) -> None:
    own = talk("echo ready; read x; echo done; read x")
    own.ready(limit_seconds=20)
    assert state(own) == "T"
    own._ask("anything", 20)
    assert state(own) == "T"


def state(own: Conversation) -> str:
    """Of the process, once a signal has reached it."""
    found = ""
    for _ in range(200):
        found = Path(f"/proc/{own._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if found == "T":
            break
        time.sleep(0.01)
    return found


def test_arrays_are_read_in_both_forms(tmp_path: Path) -> None:
    arrays = {"A": np.arange(5.0), "B": np.array([1, -2], "int16"), "none": np.zeros(0, "float32")}
    with (tmp_path / "raw").open("wb") as file:
        file.write(b"raw\n")
        for name, array in arrays.items():
            file.write(f"{name} {array.dtype.name} {array.size}\n".encode())
            array.tofile(file)
    with (tmp_path / "numpy").open("wb") as file:
        np.savez(file, **arrays)   # type: ignore[arg-type]
    for form in ("raw", "numpy"):
        found = read_arrays(tmp_path / form)
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)
    (tmp_path / "other").write_bytes(b"PK")
    with pytest.raises(EndedError, match="no known form"):
        read_arrays(tmp_path / "other")


def test_seconds_have_the_digits_of_a_clock() -> None:
    found = _sample("sample 0.12345678949 1e-10 0 0", "sample")
    assert (found.wall_seconds, found.thread_cpu_seconds) == (0.123456789, 0.0)
