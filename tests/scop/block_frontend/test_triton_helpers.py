"""Functions beside a printed Triton kernel; tests/kernel/test_triton_calls.py runs them."""

import ast

from polysched.scop.block_frontend.triton_helpers import FLOORDIV, HELPERS, helper_lines, helper_of


def test_a_module_has_what_it_uses_and_what_that_calls() -> None:
    assert helper_lines(()) == ""
    assert helper_lines((FLOORDIV,)) == HELPERS[FLOORDIV] + "\n\n"
    functions = [node.name for node in ast.parse(helper_lines(("polysched_max",))).body
                 if isinstance(node, ast.FunctionDef)]
    assert functions == ["polysched_maximum", "polysched_max"]


def test_words_without_a_helper_are_tritons_own() -> None:
    assert helper_of("sum") == "polysched_sum"
    assert helper_of("where") == "tl.where"
    assert all(f"def {name}(" in text for name, text in HELPERS.items())
