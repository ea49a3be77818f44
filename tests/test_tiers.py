"""Which tests the quick tier leaves out."""

from tests.tiers import recorded, slow_functions


def test_a_function_counts_with_all_phases_and_the_average_of_its_parameters() -> None:
    seconds = [("a.py::long", 0.1), ("a.py::long", 0.3), ("a.py::short", 0.1), ("b.py::cases[1-2]", 0.5),
               ("b.py::cases[3[]]", 0.0), ("b.py::cases[4]", 0.0), ("b.py::TestC::rare[x]", 0.4)]
    assert slow_functions(seconds, most=0.2) == ["a.py::long", "b.py::TestC::rare"]
    assert slow_functions(seconds, most=0.1) == ["a.py::long", "b.py::TestC::rare", "b.py::cases"]


def test_the_record_leaves_some_out(request) -> None:
    assert request.node.get_closest_marker("quick") is not None
    assert "tests/end_to_end/test_kernels.py::test_every_version_agrees" in recorded()
