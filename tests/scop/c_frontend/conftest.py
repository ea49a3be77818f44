"""The fixture that compares extracted with compiled C."""

import numpy as np
import pytest

from polysched.scop.signature import ParameterKind
from tests.scop.c_frontend.compiled_c import run_both


@pytest.fixture
def agree(tmp_path):
    """Check that the interpreter computes what the compiled program computes; gives the Scop."""
    def check(text, returns=None, seed=0, options=None, **values):
        scop, compiled, interpreted, result, memory = run_both(text, tmp_path, values, seed=seed, **(options or {}))
        arrays = [p.name for p in scop.source.signature.parameters if p.kind is ParameterKind.ARRAY]
        assert arrays or returns is not None, "nothing to compare"
        for name in arrays:
            np.testing.assert_array_equal(interpreted[name], compiled[name], err_msg=name)
        if returns is not None:
            assert memory[returns].item() == result
        return scop
    return check
