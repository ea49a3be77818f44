"""Steps of a plan, and the steps inside them."""

from polysched.graph import from_text
from polysched.graph.planning.steps import Either, Kernel, Part, Repetition, Sizes, Together, walked
from polysched.graph.values.sizes import Size
from polysched.model.planned import planned
from tests.graph.passes.control_graphs import GRAPHS


def test_steps_of_regions_are_walked_behind_their_step() -> None:
    (loop,) = planned(GRAPHS["nested"]).steps
    kinds = [type(s).__name__ for s in walked([loop])]
    assert kinds == ["Repetition", "Repetition", "Kernel", "Either", "Kernel"]


def test_a_step_is_renamed_with_all_that_it_has() -> None:
    (loop,) = planned(GRAPHS["nested"]).steps
    assert isinstance(loop, Repetition)
    other = loop.renamed(lambda name: name and f"p {name}")
    for old, new in zip(walked([loop]), walked([other]), strict=True):
        assert new.inputs == tuple(name and f"p {name}" for name in old.inputs)
        assert new.outputs == tuple(name and f"p {name}" for name in old.outputs)
    assert (other.iteration, other.next_condition) == (f"p {loop.iteration}", "")


def test_what_a_branch_reads_is_what_its_sides_read() -> None:
    step = next(s for s in planned(GRAPHS["branch"]).steps if isinstance(s, Either))
    assert {"c", "x", "z"} <= set(step.inputs)
    assert step.outputs == ("y", "u")
    assert step.no.copied == (("y", "z"),)


def test_sizes_read_nothing() -> None:
    step = Sizes(values=(Size.symbol("N"),), output="s")
    assert (step.inputs, step.outputs, step.renamed(str.upper).output) == ((), ("s",), "S")


def test_a_part_names_each_value_once() -> None:
    fragment = from_text("graph k(a: float32[2]) { let b = Neg(a) return b }")
    kernel = Kernel(fragment=fragment, inputs=("x",), outputs=("y",))
    assert Part(steps=(kernel, kernel), copied=(("z", "y"),)).used == ("x", "y", "z")


def test_kernels_that_run_together_are_walked_and_renamed() -> None:
    fragment = from_text("graph k(a: float32[2]) { let b = Neg(a) return b }")
    step = Together(kernels=tuple(Kernel(fragment=fragment, inputs=("x",), outputs=(o,)) for o in "yz"))
    assert (step.inputs, step.outputs) == (("x",), ("y", "z"))
    assert list(walked([step])) == [step, *step.kernels]
    assert step.renamed(str.upper).outputs == ("Y", "Z")
