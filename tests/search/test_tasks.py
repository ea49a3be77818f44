"""Turns go where they save most of the weighted whole, and to nothing near its bound."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.search.tasks import Task, next_task, schedule, whole_seconds


def curves(*times: list[float]):
    """Turns that follow recorded times."""
    left = [iter(t) for t in times]
    return lambda k: next(left[k], None)


def test_every_program_has_a_first_turn_the_heaviest_first():
    tasks = [Task(name="a"), Task(name="b", weight=5.0), Task(name="c", weight=5.0)]
    taken = schedule(tasks, curves([1.0] * 9, [1.0] * 9, [1.0] * 9), most=3)
    assert [t.task for t in taken] == [1, 2, 0]


def test_a_program_near_its_bound_gets_nothing():
    tasks = [Task(name="near", weight=100.0, bound_seconds=0.95), Task(name="far", bound_seconds=0.1)]
    taken = schedule(tasks, curves([1.0] * 9, [1.0] * 9), most=8)
    assert [t.task for t in taken] == [0, *[1] * 7]


def test_what_saves_gets_more_turns_than_what_does_not():
    saving = [1.0 * 0.9**k for k in range(20)]
    tasks = [Task(name="stuck"), Task(name="saving")]
    taken = schedule(tasks, curves([1.0] * 20, saving), most=16)
    counts = [sum(t.task == k for t in taken) for k in range(2)]
    assert counts[1] > counts[0] > 1


def test_weights_count():
    tasks = [Task(name="rare"), Task(name="often", weight=8.0)]
    taken = schedule(tasks, curves([1.0] * 30, [1.0] * 30), most=18)
    assert sum(t.task for t in taken) > 12
    assert whole_seconds(tasks) == 9.0


def test_an_exhausted_program_ends_and_all_ended_stop():
    tasks = [Task(name="short"), Task(name="none")]
    taken = schedule(tasks, curves([1.0, 0.8], []), most=50)
    assert [t.seconds for t in taken] == [1.0, 0.8]
    assert all(t.exhausted for t in tasks)
    assert next_task(tasks) is None
    assert next_task([]) is None


def test_a_weight_is_positive():
    with pytest.raises(UsageError):
        Task(name="x", weight=0.0)
