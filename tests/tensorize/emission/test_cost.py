"""What an instruction costs on a machine: full vectors may issue more slowly than the description says."""

import pytest

from polysched.target import Costs, Target
from polysched.tensorize import INTRINSICS
from polysched.tensorize.emission.cost import issue_cycles

NARROW_PIPES = Target(vector_bits=512, vector_registers=32, costs=Costs(vector_slowdown=2.0))


@pytest.mark.parametrize(("name", "factor"), [
    ("fma_f32_avx512", 2.0),      # fills the vector
    ("fma_f32_avx2", 1.0),        # half of it
    ("tdpbssd", 1.0),          # a unit of its own
])
def test_full_vectors_issue_as_slowly_as_the_machine_says(name: str, factor: float) -> None:
    intrinsic = INTRINSICS[name]
    assert issue_cycles(intrinsic, NARROW_PIPES) == factor * intrinsic.cost.issue_cycles
    assert issue_cycles(intrinsic, Target(vector_bits=512)) == intrinsic.cost.issue_cycles
