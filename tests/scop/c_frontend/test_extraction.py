"""The state of reading a region: names that isl can read, parameters with their ranges, and what may be taken back."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.extraction import Extraction, NoCountedLoop, NotAffine, Requirement
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.dtypes import INT8, INT32
from polysched.scop.scop import Parameter
from tests.scop.c_frontend.read_region import bound

N = polyhedra.symbol("n")


@pytest.fixture
def x() -> Extraction:
    """The state in front of a region, with an `int` parameter n."""
    bindings, _ = bound("for (int i = 0; i < n; i++) A[i] = m;")
    made = Extraction(path="in.c", bindings=bindings, identifiers=frozenset({"n", "n_1", "used"}), pure=frozenset(),
                      functions={})
    made.add_parameter("n", Parameter("n", INT32))
    made.names.add("n")
    return made


@pytest.fixture
def node() -> object:
    _, region = bound("A[0] = n;")
    return region.items[0]


def test_a_parameter_lies_in_the_range_of_its_type(x: Extraction) -> None:
    x.add_parameter("small", Parameter("small", INT8))
    assert x.context.params().is_equal(isl.Set(
        "[n, small] -> { : -2147483648 <= n <= 2147483647 and -128 <= small <= 127 }").params())
    assert x.context_of_types().is_equal(x.context)


@pytest.mark.parametrize(("wanted", "name"), [
    ("k", "k"), ("n", "n_2"), ("used", "used"), ("mod", "mod_1"), ("S3", "S3_1"), ("S3_r0", "S3_r0_1"), ("a.b", "a_b"),
    ("2d", "v2d"), ("p->v", "p__v"), ("infty", "infty_1"), ("Sum", "Sum")])
def test_names_are_new_and_no_words_of_isl(x: Extraction, wanted: str, name: str) -> None:
    assert x.fresh(wanted) == name
    assert x.fresh(wanted) != name
    isl.Set(f"[{name}] -> {{ : {name} > 0 }}")


def test_only_integers_that_decide_and_do_not_change_are_parameters(x: Extraction) -> None:
    symbols = {name: x.bindings.visible[name] for name in ("n", "m", "A", "x")}
    assert x.parameter(symbols["n"]) is not None
    assert all(x.parameter(symbols[name]) is None for name in ("m", "A", "x")), "m only computes"
    counter = next(s for s in x.bindings.written if s.name == "i")
    assert x.parameter(counter) is None


def test_what_is_proved_is_not_assumed(x: Extraction, node: object) -> None:
    domain = polyhedra.between(N, 3, 9)
    x.require(domain, N.ge_set(polyhedra.constant(1)), kind="no-wrap", text="t", node=node)
    assert x.assumptions == []
    x.require(domain, N.ge_set(polyhedra.constant(5)), kind="no-wrap", text="t", node=node)
    assumption, = x.assumptions
    assert assumption.parameters is not None
    inside = isl.Set("[n] -> { : -2147483648 <= n <= 2147483647 and (n < 3 or n >= 5) }").params()
    assert x.context.params().is_equal(inside)
    assert assumption.parameters.is_equal(inside)
    for n in (2, 3, 4, 5, 10):
        assert bool(eval((assumption.condition or "").replace("(long)", "").replace("||", "or").replace("&&", "and"),
                         {"n": n})) == (n < 3 or n >= 5)


def test_what_holds_for_no_value_is_refused(x: Extraction, node: object) -> None:
    everything, nothing = polyhedra.universe(), polyhedra.universe().complement()
    with pytest.raises(UnsupportedScopError, match="holds for no parameter value"):
        x.require(everything, nothing, kind="stated", text="t", node=node)
    with pytest.raises(NoCountedLoop):
        x.require(everything, nothing, kind="terminates", text="t", node=node)
    with pytest.raises(UnsupportedScopError, match="at which the code runs"):
        x.require(polyhedra.between(N, 3, 9), nothing, kind="no-wrap", text="t", node=node)
    assert x.assumptions == []


def assume_and_fail(x: Extraction, node: object) -> None:
    with x.attempt():
        x.require(polyhedra.universe(), N.ge_set(polyhedra.constant(5)), kind="no-wrap", text="t", node=node)
        raise NotAffine(node, "no")


def test_an_attempt_that_fails_leaves_nothing(x: Extraction, node: object) -> None:
    before = x.context
    with pytest.raises(NotAffine):
        assume_and_fail(x, node)
    assert x.context is before
    assert x.assumptions == []
    with pytest.raises(NotAffine), x.attempt(strict=True):
        x.require(polyhedra.universe(), N.ge_set(polyhedra.constant(5)), kind="no-wrap", text="t", node=node)
    assert not x.strict


def test_requirements_can_wait(x: Extraction, node: object) -> None:
    with x.defer() as waiting:
        x.require(polyhedra.universe(), N.ge_set(polyhedra.constant(5)), kind="no-wrap", text="t", node=node)
    assert [type(w) for w in waiting] == [Requirement]
    assert x.assumptions == []


def test_a_snapshot_brings_everything_back(x: Extraction, node: object) -> None:
    saved = x.snapshot()
    x.add_parameter("k", Parameter("k", INT8))
    x.fresh("k")
    x.note("something", node)
    x.note("something", node)
    assert len(x.notes) == 1
    with x.bound(), x.perhaps():
        assert x.sizes_count
        assert x.maybe
    assert not x.sizes_count
    x.restore(saved)
    assert (x.notes, x.fresh("k"), set(x.parameters)) == ([], "k", {"n"})
    x.restore(saved)
    assert x.fresh("k") == "k", "a snapshot serves twice"
