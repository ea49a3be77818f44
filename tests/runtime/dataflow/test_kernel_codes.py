"""Programs as code for nodes."""

import numpy as np

from polysched.runtime.dataflow.kernel_codes import kernel_code
from polysched.scop import from_c_text


def test_a_program_becomes_text_with_an_entry_and_its_arguments() -> None:
    code = kernel_code(from_c_text("void f(int n, double A[n]) {\n#pragma scop\n"
                                   "for (int i = 0; i < n; i++) A[i] = 2 * A[i];\n#pragma endscop\n}\n"))
    assert [(p.name, p.is_array, p.written) for p in code.passed] == [("n", False, False), ("A", True, True)]
    (doubled,) = code.load()(5, np.arange(5.0))
    assert doubled.tolist() == [0, 2, 4, 6, 8]
