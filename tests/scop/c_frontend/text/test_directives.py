"""Pragmas around and inside regions: replaced with their loop, or a reason to leave it alone."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import all_from_c_text, from_c_text

HEAD = "void f(int n, double a[restrict n], double b[restrict n])\n{\n  int i;\n"
LOOP = "for (i = 0; i < n; i++) a[i] = b[i];\n"


def found(body: str) -> list[str]:
    """The text of every region that is found in a function with this body."""
    scops = all_from_c_text(f"{HEAD}{body}}}\n", autodetect=True)
    return [s.source.text[s.source.start:s.source.end] for s in scops if s.source is not None]


@pytest.mark.parametrize("pragma", [
    "#pragma omp parallel for private(i)", "#pragma omp simd", "# pragma GCC ivdep", "#pragma GCC unroll 4",
    "#pragma clang loop vectorize(enable)", "#pragma omp parallel for \\\n  schedule(static)",
    "#pragma omp parallel for\n#pragma GCC ivdep"])
def test_a_pragma_for_the_loop_is_replaced_with_it(pragma: str) -> None:
    (text,) = found(f"  {pragma}\n  {LOOP}")
    assert text.startswith(pragma.lstrip())


def test_a_pragma_between_the_loops_of_a_region_goes() -> None:
    (text,) = found(f"{LOOP}#pragma omp parallel for\n{LOOP}")
    assert "omp parallel for" in text


@pytest.mark.parametrize("body", [
    f"#pragma omp parallel\n{{\n#pragma omp for\n{LOOP}}}\n", f"#pragma omp for\n{LOOP}",
    f"#pragma omp critical\n{LOOP}", f"#pragma omp target\n{{\n{LOOP}}}\n", f"#pragma acc parallel loop\n{LOOP}",
    "for (i = 0; i < n; i++)\n#pragma omp atomic\na[i] += b[i];\n"])
def test_what_other_threads_or_devices_take_part_in_is_left_alone(body: str) -> None:
    with pytest.raises(UnsupportedScopError, match=r"pragma|threads|device"):
        found(body)


@pytest.mark.parametrize("pragma", [
    "omp parallel for private(i)", "omp \\\n parallel for", "omp simd\n#pragma GCC ivdep"])
def test_a_pragma_that_only_the_compiler_sees_is_replaced_with_its_loop(pragma: str) -> None:
    conditional = f"#ifdef _OPENMP\n#pragma {pragma}\n#endif\n// the loop\n{LOOP.strip()}"
    assert found(f"b[0] = 1;\n{conditional}\n") == [conditional]


@pytest.mark.parametrize("pragma", ["omp for", "omp single"])
def test_a_pragma_of_other_threads_that_only_the_compiler_sees_keeps_its_loop(pragma: str) -> None:
    """What replaces the region would stand behind it."""
    with pytest.raises(UnsupportedScopError, match="under conditional compilation"):
        found(f"b[0] = 1;\n#ifdef _OPENMP\n#pragma {pragma}\n#endif\n// the loop\n{LOOP}")
    assert found(f"#ifdef _OPENMP\n#pragma {pragma}\n#endif\ngetchar();\n{LOOP}") == [LOOP.strip()]
    assert found(f"#ifdef _OPENMP\n#pragma omp barrier\n#endif\n{LOOP}") == [LOOP.strip()]


def test_a_construct_that_is_inside_as_a_whole_goes() -> None:
    (text,) = found("#pragma omp parallel for\nfor (i = 0; i < n; i++) {\n#pragma omp critical\na[0] += b[i];\n}\n")
    assert "omp critical" in text


def test_a_loop_that_only_a_pragma_separates_from_its_head_is_replaced_with_it() -> None:
    (scop,) = all_from_c_text(f"int getchar(void);\n{HEAD}while (getchar())\n#pragma omp simd\n{LOOP}}}\n",
                              autodetect=True)
    assert scop.source is not None
    assert scop.source.bare
    assert scop.source.text[scop.source.start:].startswith("#pragma omp simd")


@pytest.mark.parametrize(("pragma", "hint"), [("omp parallel for", "move it into the region"),
                                              ("omp for", "take the whole parallel construct")])
def test_a_pragma_in_front_of_a_marked_region_is_refused(pragma: str, hint: str) -> None:
    text = f"{HEAD}#pragma {pragma}\n#pragma scop\n{LOOP}#pragma endscop\n}}\n"
    with pytest.raises(UnsupportedScopError, match="governs its first statement") as caught:
        from_c_text(text)
    assert str(caught.value.hint).startswith(hint)


def test_what_a_failed_attempt_inlined_is_no_region_of_the_caller(tmp_path: Path) -> None:
    scops = all_from_c_text("""
int printf(const char *, ...);
void spread(int i, int *restrict x, int *restrict y)
{
  for (int b = 0; b < 16; b++) { *x |= i << b; *y |= i >> b; }
}
int main(void)
{
  for (int i = 0; i < 100; i++) {
    int x = 0, y = 0;
    spread(i, &x, &y);
    printf("%d %d", x, y);
  }
}
""", autodetect=True)
    assert [s.source.function for s in scops if s.source is not None] == ["spread"]
