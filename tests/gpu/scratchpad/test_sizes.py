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
