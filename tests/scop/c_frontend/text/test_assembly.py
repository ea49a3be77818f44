"""Assembly beside regions is no obstacle, inside it is refused, and what it may change is not taken to be known."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import all_from_c_text, from_c_text
from polysched.scop.c_frontend.text.assembly import without_assembly

BESIDE = r"""
__asm__(".set answer, 42");
extern int g(int) __asm__("other name");
static unsigned ticks(void) { unsigned low, high; asm volatile("rdtsc" : "=a" (low), "=d" (high)); return low; }
void f(int n, double x[n]) {
  int m = 4;
  register int k __asm__("eax") = 3;
  %s
#pragma scop
  for (int i = 0; i < m; i++)
    x[i] = i;
#pragma endscop
}
"""


def test_a_value_that_assembly_changes_is_not_known():
    kept, changed = (from_c_text(BESIDE % line) for line in ("", '__asm__("addl $1, %[to]" : [to] "+r" (m));'))
    assert [{p.name: p.definition for p in scop.parameters}["m"] for scop in (kept, changed)] == ["4", ""]


@pytest.mark.parametrize(("text", "expected"), [
    ('{ __asm__ volatile ("a" "b"\n : "=r" (x[0]), [y] "+m"(*y)\n : "r" ((z + 1))); }',
     "{ asm(&(x[0]), &(*y), &((z + 1)))\n\n; }"),
    ('{ if (x) asm("nop"); else asm("nop"); }', "{ if (x) asm(); else asm(); }"),
    ('int g(int) asm("a)b");', "int g(int) ;"),
    ('{ asm("a"\n# 7 "f.c"\n "b"); }', '{ asm()\n# 7 "f.c"\n; }'),
    ('{ asm goto("jmp %l0" : : : : out); }', None),
    ('{ asm(x); puts("asm (");\n# 1 "asm(.c"\n }', None),
], ids=["operands", "branches", "names", "markers", "jumps", "no assembly"])
def test_statements_are_calls_on_the_same_lines(text, expected):
    assert without_assembly(text) == (text if expected is None else expected)


LOOPS = r"""
void f(int n, double x[n]) {
  for (int i = 0; i < n; i++)
    x[i] = 1;
  for (int i = 0; i < n; i++) {
    x[i] += 2;
    __asm__("" : : : "memory");
  }
}
"""


def test_assembly_inside_is_refused_and_loops_around_it_stay():
    assert len(all_from_c_text(LOOPS, autodetect=True)) == 1
    marked = LOOPS.replace("{\n  for", "{\n#pragma scop\n  for", 1).replace("  }\n}", "  }\n#pragma endscop\n}")
    with pytest.raises(UnsupportedScopError, match="what assembly does is not known") as caught:
        from_c_text(marked)
    assert caught.value.where.line == 8
