"""Programs at known sizes."""

import pytest

from polysched.errors import UsageError
from polysched.gpu.scratchpad.sizes import at_sizes
from tests.gpu.scratchpad.accelerated import program, read

TEXT = program("int n, float x[n]", "for (int i = 0; i < n; i++) x[i] = 1.0f;")


def test_every_domain_is_bounded() -> None:
    own = at_sizes(read(TEXT), {"n": 7})
    assert own.statements[0].domain.dim_max_val(0).to_python() == 6
    assert own.schedule.get_domain().is_equal(own.domain)


@pytest.mark.parametrize(("sizes", "words"), [({}, "the size n of f is not known"), ({"n": -1}, "does not allow")])
def test_sizes_that_are_missing_or_wrong_are_refused(sizes: dict[str, int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        at_sizes(read(TEXT), sizes)


def test_statements_that_never_run_are_left_out() -> None:
    text = program("int n, float x[9], float y[9]",
                   "for (int i = 3; i < n; i++) x[i] = 1.0f;\nfor (int i = 0; i < n; i++) y[i] = 2.0f;")
    own = at_sizes(read(text), {"n": 2})
    assert [s.name for s in own.statements] == ["S1"]
    assert [array.name for array in own.arrays] == ["y"]
    with pytest.raises(UsageError, match="no statement runs at these sizes"):
        at_sizes(read(text), {"n": 0})
