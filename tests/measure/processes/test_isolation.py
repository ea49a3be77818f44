"""A child that crashes, hangs or eats memory is data; nothing of it stays behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from polysched.measure.processes.isolation import ChildEnd, Conversation, End, Limits, run_isolated
from polysched.measure.processes.workspace import workspace

MIB = 1 << 20


@pytest.fixture(autouse=True)
def child_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def run_child(do: str, *, seconds: float = 20, memory_bytes: int = 512 * MIB, cpu_seconds: int = 60,
              **request: Any) -> ChildEnd:
    with workspace() as folder:
        return run_isolated("misbehaving_child", {"do": do, **request}, folder=folder,
                            limits=Limits(seconds=seconds, memory_bytes=memory_bytes, cpu_seconds=cpu_seconds))


def is_gone(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def test_reports_come_back_in_order() -> None:
    seen = []
    with workspace() as folder:
        ended = run_isolated("misbehaving_child", {"do": "finish", "value": 3.5}, folder=folder, limits=Limits(),
                             on_report=seen.append)
    assert ended.end is End.FINISHED
    assert [r.get("value") for r in ended.reports] == [None, 3.5, None]
    assert list(ended.reports) == seen


def test_one_child_answers_several_questions() -> None:
    seen: list[Any] = []
    with workspace() as folder, Conversation("misbehaving_child", {"do": "answer"}, folder=folder, limits=Limits(),
                                             on_report=seen.append) as talk:
        assert talk.listen("ready") is None
        assert [talk.ask({"number": k}) for k in range(3)] == [None] * 3
        told = [r for r in seen if "answered" in r]
        assert [json.loads(r["answered"]) for r in told] == [{"number": k} for k in range(3)]
        assert len({r["process"] for r in told}) == 1
    assert is_gone(told[0]["process"])


@pytest.mark.parametrize(("question", "end"), [("crash", End.CRASHED), ("sleep", End.HUNG)])
def test_a_child_that_ends_over_a_question_is_judged(question: str, end: End) -> None:
    with workspace() as folder, Conversation("misbehaving_child", {"do": "answer"}, folder=folder,
                                             limits=Limits()) as talk:
        assert talk.listen("ready") is None
        assert talk.ask({"number": 0}) is None
        time.sleep(0.3)   # no clock runs while it waits
        ended = talk.ask({"number": question}, seconds=0.2 if question == "sleep" else None)
        assert ended is not None
        assert ended.end is end
        if end is End.HUNG:
            assert "no progress for 0.2 seconds" in ended.describe()


@pytest.mark.parametrize(("do", "signal_name"), [("crash", "SIGSEGV"), ("abort", "SIGABRT")])
def test_a_crash_names_its_signal(do: str, signal_name: str) -> None:
    ended = run_child(do)
    assert (ended.end, ended.signal_name) == (End.CRASHED, signal_name)
    assert ended.describe().startswith(f"crashed with {signal_name} after ")
    assert ended.describe().endswith("while it was misbehaving")


def test_a_large_parent_does_not_make_its_child_look_large() -> None:
    ballast = bytearray(os.urandom(1 << 20)) * 160
    ended = run_child("crash", memory_bytes=160 * MIB)
    assert ended.end is End.CRASHED
    assert 0 < ended.peak_bytes < len(ballast) // 2


def test_a_hang_names_its_limit() -> None:
    ended = run_child("hang", seconds=0.5)
    assert ended.end is End.HUNG
    assert ended.describe() == "hung: no progress for 0.5 seconds while it was misbehaving"


def test_a_child_that_reports_may_take_longer_than_the_limit() -> None:
    ended = run_child("slow but alive", seconds=1.0)
    assert ended.end is End.FINISHED
    assert ended.seconds > 1.0


@pytest.mark.parametrize(("start_seconds", "end"), [(20.0, End.FINISHED), (None, End.HUNG)])
def test_a_child_that_starts_may_take_longer_than_the_limit(start_seconds: float | None, end: End) -> None:
    with workspace() as folder:
        ended = run_isolated("misbehaving_child", {"do": "start late"}, folder=folder, limits=Limits(seconds=0.5),
                             start_seconds=start_seconds)
    assert ended.end is end


@pytest.mark.parametrize(("do", "end"), [("hang with child", End.HUNG), ("leave a child", End.FINISHED)])
def test_grandchildren_are_killed(do: str, end: End) -> None:
    ended = run_child(do, seconds=1.0)
    assert ended.end is end
    orphan = next(r["orphan"] for r in ended.reports if "orphan" in r)
    assert is_gone(orphan)


@pytest.mark.parametrize("do", ["eat", "malloc and crash"])
def test_memory_beyond_the_limit_is_refused_and_named(do: str) -> None:
    ended = run_child(do, memory_bytes=128 * MIB)
    assert ended.end is End.MEMORY
    assert ended.describe() == "ran out of memory: the limit is 128 MiB while it was misbehaving"


def test_an_exit_keeps_its_status_and_last_words() -> None:
    ended = run_child("exit")
    assert (ended.end, ended.exit_status, ended.error_output) == (End.FAILED, 7, "out of cheese")
    assert ended.describe() == "ended by itself with exit status 7 while it was misbehaving"


def test_endless_output_neither_blocks_nor_fills_the_parent() -> None:
    ended = run_child("chatter", seconds=0.5)
    assert ended.end is End.HUNG
    assert len(ended.error_output) <= 4096


def test_cpu_time_is_limited() -> None:
    ended = run_child("burn", cpu_seconds=1, seconds=30)
    assert (ended.end, ended.signal_name) == (End.HUNG, "SIGXCPU")
    assert "used up" in ended.describe()


def test_an_interrupt_of_the_parent_kills_the_child_and_cleans_up() -> None:
    pids = []
    folders = []

    def interrupt(report: Any) -> None:
        if "orphan" in report:
            pids.append(report["orphan"])
            raise KeyboardInterrupt

    def run() -> None:
        with workspace() as folder:
            folders.append(folder)
            run_isolated("misbehaving_child", {"do": "hang with child"}, folder=folder, limits=Limits(),
                         on_report=interrupt)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert is_gone(pids[0])
    assert not folders[0].exists()


def test_a_child_does_not_outlive_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from polysched.measure.processes.isolation import Limits, run_isolated
run_isolated("misbehaving_child", {"do": "hang with child"}, folder=Path(sys.argv[1]), limits=Limits(),
             on_report=lambda report: print(report.get("orphan", ""), flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as parent:
        assert parent.stdout is not None
        grandchild = int(next(line for line in parent.stdout if line.strip()))
        parent.kill()
    assert is_gone(int((tmp_path / "child").read_text()))
    os.kill(grandchild, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_child_does_not_begin_when_its_launcher_is_gone(tmp_path: Path) -> None:
    limits = {"memory_bytes": 1 << 30, "cpu_seconds": 10}
    (tmp_path / "request").write_text(json.dumps({"limits": limits}))
    code = ("import sys; from polysched.measure.processes.child_side import start\n"
            "start(['', sys.argv[1], '2']); print('it went on')")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "request")], process_group=0,
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr


def test_no_descriptor_is_left_open() -> None:
    run_child("finish", value=1)
    before = len(os.listdir("/proc/self/fd"))
    run_child("finish", value=1)
    run_child("crash")
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("values", [{"seconds": 0}, {"memory_bytes": -1}, {"cpu_seconds": 0}])
def test_limits_are_positive(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="positive"):
        Limits(**values)
