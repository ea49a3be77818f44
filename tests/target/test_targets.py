"""Targets by name and as files."""

from __future__ import annotations

import io
import json

import pytest

from polysched.errors import UsageError
from polysched.target import TARGETS, CacheLevel, Target, find_target, host
from polysched.target.constant import constants
from polysched.target.costs import SHIPPED
from polysched.target.targets import target_from_json, target_to_json

WIDE = Target(name="wide", features=frozenset({"b", "a"}), vector_bits=512, cores=8, caches=(
    CacheLevel(level=1, size_bytes=1 << 15), CacheLevel(level=2, size_bytes=1 << 20, shared_by=2)),
    peak_flop_per_second={"float64": 1e10}, bandwidth_bytes_per_second={0: 1e10, 1: 1e11})


def test_targets_have_names():
    assert find_target("host") == host()
    assert find_target("generic") == Target()
    assert set(TARGETS) == {"host", "generic"}


def test_a_target_survives_a_file(tmp_path):
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(target_to_json(WIDE)))
    assert find_target(str(path)) == WIDE
    path.write_text(json.dumps({"machine": {}, "target": target_to_json(WIDE)}))
    assert find_target(str(path)) == WIDE


def test_a_target_comes_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"vector_bits": 512}'))
    assert find_target("-") == Target(vector_bits=512)


@pytest.mark.parametrize(("text", "problem"), [
    ("[1]", "this is no target"),
    ("{", "the target cannot be read"),
    ('{"lanes": 4}', "a target has no 'lanes'"),
    ('{"cores": 0}', "the target has a value that it cannot have"),
    ('{"caches": [{"level": 1}]}', "the target has a value that it cannot have"),
])
def test_what_is_no_target_is_refused(text, problem, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        find_target(str(path))
    assert refused.value.problem == problem
    assert refused.value.where == str(path)


@pytest.mark.parametrize(("field", "given", "witness"), [
    ("name", 7, "name: 7 is no text"),
    ("vector_bits", "512", "vector_bits: '512' is no integer"),
    ("vector_bits", 512.0, "vector_bits: 512.0 is no integer"),
    ("cores", True, "cores: True is no integer"),
    ("frequency_hz", "3e9", "frequency_hz: '3e9' is no finite number"),
    ("frequency_hz", float("inf"), "frequency_hz: inf is no finite number"),
    ("features", "avx2", "features: 'avx2' is no list"),
    ("features", [2], "features[0]: 2 is no text"),
    ("caches", {"level": 1}, "caches: {'level': 1} is no list"),
    ("caches", [1], "caches[0]: 1 is no object"),
    ("caches", [{"level": 1, "size_bytes": "32K"}], "caches[0].size_bytes: '32K' is no integer"),
    ("caches", [{"level": 1}], "caches[0].size_bytes: this is left out"),
    ("ports", [], "ports: [] is no object"),
    ("ports", {"fma_pipes": 1.5}, "ports.fma_pipes: 1.5 is no integer"),
    ("costs", {"row_cycles": "20"}, "costs.row_cycles: '20' is no finite number"),
    ("costs", {"rows": 20}, f"costs.rows: there is no such field, but {', '.join(c.name for c in constants(SHIPPED))}"),
    ("peak_flop_per_second", [1e10], "peak_flop_per_second: [10000000000.0] is no object"),
    ("peak_flop_per_second", {"float64": None}, "peak_flop_per_second.float64: None is no finite number"),
    ("bandwidth_bytes_per_second", {"L1": 1e11}, "bandwidth_bytes_per_second.L1: 'L1' is no integer"),
    ("bandwidth_bytes_per_second", {"1": "fast"}, "bandwidth_bytes_per_second.1: 'fast' is no finite number"),
])
def test_a_value_of_a_wrong_type_is_refused_with_its_field(field, given, witness):
    with pytest.raises(UsageError) as refused:
        target_from_json({field: given}, where="t.json")
    assert refused.value.problem == "the target has a value that it cannot have"
    assert (refused.value.where, refused.value.witness) == ("t.json", witness)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no target cray") as refused:
        find_target("cray")
    assert refused.value.hint == "one of host, generic, or a JSON file"
