"""The preprocessor's part: conditional compilation, macros, and headers of ours."""


from polysched.scop import all_from_c_file, all_from_c_text, from_c_text
from polysched.scop.c_frontend.text.preprocess import STUB_HEADERS

BODY = "  for (int i = 0; i < n; i++) A[i] = 1;"


def function(name, inside):
    return f"void {name}(int n, double A[n]) {{\n{inside}\n}}\n"


def test_conditional_compilation_chooses():
    text = f"#ifdef FAST\n{function('f', f'#pragma scop{chr(10)}{BODY}{chr(10)}#pragma endscop')}#else\n" \
           f"{function('g', f'#pragma scop{chr(10)}{BODY}{chr(10)}#pragma endscop')}#endif\n"
    assert [s.name for s in all_from_c_text(text)] == ["g"]
    (fast,) = all_from_c_text(text, defines=["FAST"])
    assert fast.name == "f"
    assert fast.source.preprocessor == ("-DFAST",)


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
