"""The JSON of a Scop is complete and isl reads it back."""

import json

import islpy as isl

from polysched.scop import from_c_text
from polysched.scop.serialise import scop_to_json

TEXT = """void f(int n, double A[n][n], float x[n], int k[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = -(A[i][0] - (x[i] - 1)) * 2 / (1.5f + i);
    if (k[i] > 0) A[i][k[i]] += (double)x[i] ? x[0] : k[i] % 3;
    while (x[i] > 1 && !k[0]) { x[i] /= 2; k[i]++; }
  }
#pragma endscop
}
"""


def test_json_reads_back():
    scop = from_c_text(TEXT)
    value = json.loads(json.dumps(scop_to_json(scop)))
    assert value["name"] == "f"
    assert value["parameters"] == ["n"]
    assert isl.Set(value["context"]).is_equal(scop.context)
    assert isl.Schedule(value["schedule"]).get_map().is_equal(scop.schedule.get_map())
    assert {(a["name"], a["dtype"], len(a["extents"])) for a in value["arrays"]} == {
        ("x", "float32", 1), ("A", "float64", 2), ("k", "int32", 1)}
    for given, statement in zip(value["statements"], scop.statements, strict=True):
        assert isl.Set(given["domain"]).is_equal(statement.domain)
        assert given["line"] == statement.line
        for key in ("reads", "may_writes", "must_writes"):
            isl.UnionMap(given[key])
    wanted = isl.UnionMap("[n] -> { S0[i] -> x[i] : 0 <= i < n }")
    assert isl.UnionMap(value["statements"][0]["must_writes"]).is_equal(wanted)
    assert value["statements"][1]["must_writes"] == "{  }"


def test_bodies_read_like_the_source():
    bodies = [s["body"] for s in scop_to_json(from_c_text(TEXT))["statements"]]
    assert bodies == [
        "x[i] = -(A[i][0] - (x[i] - 1)) * 2 / (1.5f + i);",
        "if (k[i] > 0) { A[i][k[i]] += (double)x[i] ? x[0] : k[i] % 3; }",
        "while (x[i] > 1 && !k[0]) { x[i] /= 2; k[i] += 1; }",
    ]
