"""Costs: every constant has a unit and a source, and a target's figures follow from its costs."""

from dataclasses import dataclass, replace

import pytest

from polysched.target import Costs, Target
from polysched.target.constant import constant, constants


def test_every_cost_says_its_unit_and_source() -> None:
    for found in constants(Costs()):
        assert found.unit, found.name
        assert found.source, found.name
        assert found.value > 0, found.name


def test_a_constant_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="a unit and a source"):
        constant(1, unit="", source="somewhere")


def test_a_plain_field_is_refused_in_a_record() -> None:
    @dataclass(frozen=True)
    class Record:
        plain: int = 1

    with pytest.raises(ValueError, match=r"Record\.plain has no unit"):
        list(constants(Record()))


@pytest.mark.parametrize("value", [0.0, -3.0, float("nan")])
def test_a_cost_is_a_positive_number(value: float) -> None:
    with pytest.raises(ValueError, match=r"team_worth: .* is no positive number"):
        Costs(team_worth=value)
    assert Costs(row_cycles=0.0).row_cycles == 0.0
    with pytest.raises(ValueError, match=r"frequency_hz: .* is no positive number"):
        Target(frequency_hz=value)


def test_a_team_costs_a_start_and_two_barriers_per_doubling() -> None:
    costs = Costs(team_start_seconds=3.0, barrier_seconds=1.0)
    assert [costs.team_seconds(threads) for threads in (1, 2, 4)] == [5.0, 5.0, 7.0]
    assert Target(cores=4, costs=costs).team_seconds == 7.0


@pytest.mark.parametrize("factor", [1.0, 0.01, 100.0])
def test_work_is_shared_by_threads_from_what_a_team_costs(factor: float) -> None:
    target = Target(cores=2, frequency_hz=1e9, costs=Costs(
        team_start_seconds=1e-6 * factor, barrier_seconds=5e-7 * factor, team_worth=8.0))
    assert target.team_work_cycles == pytest.approx(16_000 * factor)
    iterations = target.team_iterations(2.0)
    assert iterations.bit_count() == 1
    assert 0.5 <= iterations * 2.0 / target.team_work_cycles <= 2.0
    assert target.team_bytes == target.team_iterations(target.costs.copied_byte_cycles)


@pytest.mark.parametrize(("costs", "cycles", "least"), [
    (Costs(), 1e12, 4), (Costs(), 1e-30, 1 << 30),
    (Costs(team_start_seconds=0.0, barrier_seconds=1e-30), 1.0, 4), (Costs(team_worth=1e200), 1.0, 1 << 30)])
def test_what_is_shared_is_more_than_a_few_iterations_and_a_number_in_c(costs: Costs, cycles: float,
                                                                      least: int) -> None:
    assert Target(costs=costs).team_iterations(cycles) == least


@pytest.mark.parametrize(("cores", "frequency_hz"), [(2, 1.6e9), (2, 3.6e9), (4, 2.5e9)])
def test_machines_much_alike_share_the_same_loops(cores: int, frequency_hz: float) -> None:
    one = Target(cores=cores, frequency_hz=frequency_hz)
    assert one.team_bytes == Target().team_bytes


def test_bandwidths_follow_from_costs_unless_measured() -> None:
    target = Target(frequency_hz=1e9, costs=Costs(memory_bytes_per_cycle=8, level_slowdown=4))
    assert target.bandwidth(0) == 8e9
    assert target.bandwidth(2) == target.bandwidth(1) / 4
    assert replace(target, bandwidth_bytes_per_second={0: 5.0}).bandwidth(0) == 5.0


def test_slow_full_vectors_lower_the_peak() -> None:
    target = Target(vector_bits=512, frequency_hz=1e9, costs=Costs(vector_slowdown=2.0))
    assert target.multiply_adds_per_cycle == 1.0
    assert target.peak_flops(32) == 32e9


def test_wider_vectors_bring_their_registers() -> None:
    narrow = Target(vector_bits=256, vector_registers=16)
    assert narrow.with_vectors(512).vector_registers == 32
    assert narrow.with_vectors(128).vector_registers == 16
    assert replace(narrow, vector_registers=32).with_vectors(256).vector_registers == 32
    assert Target(vector_bits=0).vector_bytes == 16
