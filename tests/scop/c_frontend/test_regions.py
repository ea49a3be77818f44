"""Where regions stand in the text: comments, conditional compilation, line ends, several of them."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import all_from_c_file, all_from_c_text, from_c_text
from polysched.scop.c_frontend.text.preprocess import STUB_HEADERS
from polysched.scop.c_frontend.text.regions import pragma_lines

BODY = "  for (int i = 0; i < n; i++) A[i] = 1;"


def function(name, inside):
    return f"void {name}(int n, double A[n]) {{\n{inside}\n}}\n"


@pytest.mark.parametrize("open_line", ["#pragma scop", "  #pragma scop", "\t# pragma  scop", "#pragma scop // here",
                                       "#pragma scop /* here */", "/* x */ #pragma scop"])
def test_region_covers_both_pragmas_and_nothing_else(open_line):
    text = function("f", f"{open_line}\n{BODY}\n  #pragma endscop  \n  n = 1; // after")
    source = from_c_text(text).source
    covered = text[source.start:source.end]
    assert covered.startswith("#")
    assert covered.endswith("#pragma endscop")
    assert BODY in covered
    assert source.text == text
    assert source.indent == (open_line[:open_line.index("#")] if open_line[:open_line.index("#")].isspace() else "")


def test_line_ends_are_kept():
    text = function("f", f"#pragma scop\n{BODY}\n#pragma endscop").replace("\n", "\r\n")
    scop = from_c_text(text)
    assert scop.source.text == text
    assert text[scop.source.end:].startswith("\r\n")
    assert scop.statements[0].line == 3


def test_file_is_read_byte_for_byte(tmp_path):
    text = ("// caf\xe9\r\n" + function("f", f"#pragma scop\n{BODY}\n#pragma endscop")).encode("latin-1")
    (tmp_path / "given.c").write_bytes(text)
    (scop,) = all_from_c_file(tmp_path / "given.c")
    assert scop.source.text.encode("utf-8", "surrogateescape") == text


def test_several_regions_and_functions_in_order():
    text = function("f", f"#pragma scop\n{BODY}\n#pragma endscop\n#pragma scop\n{BODY}\n#pragma endscop") + function(
        "g", f"if (n > 1) {{\n#pragma scop\n{BODY}\n#pragma endscop\n}}")
    scops = all_from_c_text(text)
    assert [s.name for s in scops] == ["f", "f", "g"]
    assert [s.statements[0].line for s in scops] == [3, 6, 12]
    assert [s.statements[0].name for s in scops] == ["S0"] * 3


def test_conditional_compilation_chooses():
    text = f"#ifdef FAST\n{function('f', f'#pragma scop{chr(10)}{BODY}{chr(10)}#pragma endscop')}#else\n" \
           f"{function('g', f'#pragma scop{chr(10)}{BODY}{chr(10)}#pragma endscop')}#endif\n"
    assert [s.name for s in all_from_c_text(text)] == ["g"]
    (fast,) = all_from_c_text(text, defines=["FAST"])
    assert fast.name == "f"
    assert fast.source.preprocessor == ("-DFAST",)


def test_pragmas_in_comments_and_strings_are_no_pragmas():
    text = ('char *a = "#pragma scop"; // #pragma scop\n/*\n#pragma scop\n*/ char b = \'"\';\n'
            "#pragma scop\n#pragma endscop\n")
    assert [(p.word, p.line) for p in pragma_lines(text)] == [("scop", 5), ("endscop", 6)]


def test_macros_includes_and_defines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.h").write_text("#define ROWS (N / 2)\n")
    (tmp_path / "own.h").write_text("#define AT(a, i) a[(i)]\n")
    includes = '#include <sizes.h>\n#include "own.h"\n#include <stdio.h>\n#include <math.h>\n'
    (tmp_path / "given.c").write_text(includes + function(
        "f", "#pragma scop\nfor (int i = 0; i < ROWS; i++) AT(A, i) = M_PI;\n#pragma endscop"))
    (scop,) = all_from_c_file("given.c", include_dirs=["include"], defines=["N=10"])
    assert scop.statements[0].domain.plain_is_equal(scop.statements[0].domain.read_from_str(
        scop.context.get_ctx(), "[n] -> { S0[i] : 0 <= i <= 4 }"))
    assert scop.source.preprocessor == (f"-I{tmp_path / 'include'}", "-DN=10"), "what it is compiled by elsewhere"


DETECTED = """#include <stdio.h>
#define EACH(i) for (int i = 0; i < n; i++)
void f(int n, double A[n][n], double *x) {
  int i, j;
  double s = 0;
  printf("x");
  for (i = 0; i < n; i++) { // for
    x[i] = 1; /* } */
  }
  s = 2;
  if (n > 3)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        if (j < i) A[i][j] = s; else
          x[i] += A[j][i];
  printf("y %g", x[0]);
  for (int t = 0; t < n; t++) {
    printf("z");
    for (j = 0; j < n; j++)
      x[j] *= 2;
  }
  EACH(k) x[k] = 0;
}
"""


def test_detected_regions_are_the_largest():
    scops = all_from_c_text(DETECTED, autodetect=True)
    covered = [DETECTED[s.source.start:s.source.end] for s in scops]
    assert [c.split("\n")[0] for c in covered] == ["for (i = 0; i < n; i++) { // for", "for (j = 0; j < n; j++)"]
    assert [c.split("\n")[-1].strip() for c in covered] == ["x[i] += A[j][i];", "x[j] *= 2;"]
    assert [s.source.indent for s in scops] == ["  ", "    "]
    assert [len(s.statements) for s in scops] == [4, 1]


STRAIGHT = """int main(void) {
  int a, b = 3; double A[3];
  a = 3;
  if (a > 0)
    b = 5;
  int c = b;
  A[0] = 1; A[1] = A[0];
  printf("%d", c);
  A[1] += 2;
  return a + b + c;
}
"""


def test_statements_without_loops_make_no_regions():
    with pytest.raises(UnsupportedScopError, match="no loop whose text can be found"):
        all_from_c_text(STRAIGHT, autodetect=True)
    loop = STRAIGHT.replace("A[1] += 2;", "for (int i = 0; i < 3; i++) A[i] += 2;")
    assert len(all_from_c_text(loop, autodetect=True)) == 1


def test_nothing_detected_says_why():
    with pytest.raises(Exception, match=r"represented; the first refusal of an innermost loop: .*affine") as caught:
        all_from_c_text("void f(int n, int *x) {\n for (int i = 0; i < x[n]; i++) x[i] = 1;\n}\n", autodetect=True)
    assert caught.value.where.line == 2
    with pytest.raises(Exception, match="no loop whose text"):
        all_from_c_text("int x;\n", autodetect=True)


def test_every_standard_header_of_ours_can_be_read():
    names = sorted(str(p.relative_to(STUB_HEADERS)) for p in STUB_HEADERS.rglob("*.h"))
    assert {"stdio.h", "pthread.h", "fcntl.h", "sys/wait.h", "sys/times.h", "sys/param.h", "immintrin.h",
            "arpa/inet.h", "utime.h", "glob.h"} <= set(names)
    includes = "".join(f"#include <{name}>\n" for name in names if name != "iso646.h")   # that one gives names to signs
    (scop,) = all_from_c_text(includes + function("f", BODY), autodetect=True)
    assert scop.name == "f"


def test_offsets_of_members_and_alignments_elsewhere_in_the_file_can_be_read():
    scop = from_c_text("""
#include <stddef.h>
struct pair { char c; double d; };
static size_t end(void) { return offsetof(struct pair, d) + __builtin_offsetof(struct pair, c) + __alignof__(double); }
void f(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++) A[i] = 0;
#pragma endscop
}
""")
    assert len(scop.statements) == 1
