"""Programs and C that differ in names and layout alone have one identity; any other difference shows."""

from __future__ import annotations

from itertools import permutations

import pytest

from polysched.pipeline.options import FLAGS
from polysched.scop import from_c_text
from polysched.search.identity import Place, canonical_scop, code_identity, key_of, place_of
from polysched.target import find_compiler
from tests.search.programs import OPTIONS, PRODUCT, RENAMED, product


def test_a_renamed_and_reformatted_program_is_the_same():
    first, second = canonical_scop(product()), canonical_scop(from_c_text(RENAMED))
    assert first.text == second.text
    assert first.digest == second.digest
    assert second.names["a0"] == "Out"
    assert second.names["p0"] == "size"
    assert second.to_canonical()["Left"] == first.to_canonical()["A"]


@pytest.mark.parametrize(("old", "new"), [
    ("double A", "float A"), ("A[i][k]", "A[k][i]"), ("+=", "-="), ("* B", "+ B"), ("k < n", "k < i"),
    ("j < n", "j < 100"), ("int k = 0", "int k = 1"), ("double A[n][n]", "double A[n][n + 1]")])
def test_another_program_is_another(old, new):
    changed = PRODUCT.replace(old, new)
    assert changed != PRODUCT
    assert canonical_scop(from_c_text(changed)).digest != canonical_scop(product()).digest


def test_code_counts_by_structure():
    text = "for (int i = 0; i < n; i++)\n  a[i] = b[i] * 2.0e-5;  /* here */"
    assert code_identity(text) == code_identity("for(int q=0;q<m;q++) x[q]=y[q]*2.0e-5; // there")
    for other in ("for (int i = 0; i < n; i++) a[i] = a[i] * 2.0e-5;", text.replace("2.0e-5", "2.0e-6"),
                  text.replace("int", "long"), text.replace("<", "<="), text.replace("b[i]", "b[n]")):
        assert code_identity(other) != code_identity(text)


def test_the_region_as_written_counts_as_one_word():
    first, second = "for (i) { a[i] = 1; }", "for (q)\n  b[q] = 1;"
    one, two = (f"if (n) {{ fast({a}); }} else {{ {text} }}" for text, a in ((first, "a"), (second, "b")))
    assert code_identity(one) != code_identity(two)
    assert code_identity(one, first) == code_identity(two, second)
    assert code_identity(one, first) != code_identity(one.replace("fast", "a"), first)


def test_the_key_has_sizes_machine_threads_compiler_and_numerics():
    compiler = find_compiler()
    place = place_of(OPTIONS, compiler, threads=2, flags=("-O3",))
    base = key_of(canonical_scop(product()), {"n": 64}, place)
    assert base.sizes == (("p0", 64),)
    assert base.digest == key_of(canonical_scop(from_c_text(RENAMED)), {"size": 64}, place).digest
    others = [place_of(OPTIONS, compiler, threads=1, flags=("-O3",)), place_of(OPTIONS, compiler, threads=2, flags=()),
              place_of(OPTIONS.but(reassociate=True), compiler, threads=2, flags=("-O3",))]
    digests = {key_of(canonical_scop(product()), {"n": 64}, other).digest for other in others}
    digests |= {base.digest, key_of(canonical_scop(product()), {"n": 65}, place).digest}
    assert len(digests) == 5


def test_the_place_of_a_client_is_no_regions_and_tells_whose_it_is():
    place = Place(machine="m", threads=2, compiler="gcc", numerics="{}")
    own = place.of_client("plans of an instruction", statement="S0")
    assert (own.is_of_client, own.client) == (True, "plans of an instruction")
    assert (place.is_of_client, place.client) == (False, "")
    assert own != place.of_client("plans of an instruction", statement="S1")
    hostile = Place(machine="m", threads=2, compiler="gcc", numerics='{" client": no JSON')
    assert hostile.client == ""


def test_parameters_of_macros_are_no_names_of_the_program():
    code = """#define polysched_min(a, b) ((a) < (b) ? \\
  (a) : (b))
for (long i = 0; i < polysched_min(n, 9); i++) a[i] = b[i] + x[i];
"""
    loop = code.index("for")
    renamed = code[:loop] + code[loop:].replace("a[", "Out[").replace("b[", "In[")
    assert code_identity(code) == code_identity(renamed)
    assert code_identity(code) != code_identity(code.replace("(a) : (b)", "(b) : (a)"))
    assert code_identity(code) != code_identity(code.replace("b[i] + x", "x[i] + x"))


def test_words_in_numbers_and_strings_of_macros_are_no_parameters():
    code = "#define scaled(f) ((f) * 2.0f + g(\"f\"))\nx = scaled(y);\n"
    assert code_identity(code) == code_identity(code.replace("(f)", "(z)"))
    other = code.replace("(f)", "(l)").replace("2.0f", "2.0l").replace('"f"', '"l"')
    assert code_identity(code) != code_identity(other)


def test_flags_count_as_they_are():
    made = [(), *((flag,) for flag in FLAGS), *permutations(FLAGS, 2)]
    assert len({code_identity("x = y;", flags=flags) for flags in made}) == len(made)
