"""Every refusal of the C front end: what it says, where, and what it suggests."""

import pytest

from polysched.errors import PolyschedError, UnsupportedScopError
from polysched.scop import from_c_text

HEAD = """
extern double outside(double);
void effect(double);
volatile int shaky;
struct pair { int a, b; unsigned bits : 3; } one, other;
union both { int i; float f; } mixed;
"""
LINE = 10  # the first line of the body below


def region(body):
    return (HEAD + "void f(int n, double A[n], double B[n][n], int idx[n], double *p, double **rows, unsigned u) {\n"
            "  int i, j; double t;\n#pragma scop\n" + body + "\n#pragma endscop\n}\n")


# body, the problem, the witness, the hint
REFUSALS = [
    ("for (i = 0; i < n; i++) {\n  if (A[i] > 0) goto out; A[i] = 0;\n}\nout: ;", "`goto` inside the region",
     "goto out;",
     "if and for"),
    ("for (i = 0; i < n; i++) if (A[i] > 0 && *p++ > 0) A[i] = 0;", "a pointer walks through memory", "p++",
     "array with a subscript"),
    ("for (i = 0; i < n; i++) if (A[i] > 0) { p = p + 1; *p = 0; }", "the pointer `p` is changed", "p = p + 1",
     "array with a subscript"),
    ("for (i = 0; i < n; i++) effect(A[i]);", "must have side effects", "effect(A[i])", "move the call out"),
    ("for (i = 0; i < n; i++) A[i] = outside(A[i]);", "`outside` may have side effects", "outside(A[i])",
     "#pragma polysched pure outside"),
    ("for (i = 0; i < n; i++) A[i] = j++ + j;", "a side effect inside an expression", "j++", "statement of its own"),
    ("for (i = 0; i < n; i++) A[i] = 1 + (A[0] = 2);", "an assignment inside an expression", "A[0] = 2",
     "statement of its own"),
    ("A[0] = (1, 2);", "a comma operator inside an expression", "1, 2", "statement of its own"),
    ("for (i = 0; i < n; i++) switch (i) { case 1: A[i] = 1; case 2: A[i] = 2; }", "`switch` inside the region",
     "switch (i)",
     "if and else"),
    ("for (i = 0; i < n; i++) return;", "`return` inside the region", "return;", "after the region"),
    ("break;", "`break` inside the region", "break;", "loop's head"),
    ("for (i = 0; i < n; i++) while (A[i] > 0) switch (i) { case 1: if (n) break; }", "`switch` inside the region",
     "switch (i)", "if and else"),
    ("again: A[0] = 1; if (A[1] > 0) goto again;", "`a label` inside the region", "again:", "if and for"),
    ("__builtin_assume(n > 5); __builtin_assume(n < 3); A[0] = 1;", "as the program states", "__builtin_assume(n < 3)",
     "correct the assumption"),
    ("A[0] = \"abc\"[0];", "a subscripted expression is no array", "abc", "subscript"),
    ("A = 0;", "the array `A` is assigned as a whole", "A = 0", "elements"),
    ("one = other;", "a whole struct is used as a value", "other", "members"),
    ("one.bits = 1;", "cannot be used: a bit-field", "one.bits", None),
    ("mixed.i = 1;", "no known struct", "union overlap", None),
    ("shaky = 1;", "volatile object", "shaky", "drop `volatile`"),
    ("A[0] = (&t)[1];", "the address of a variable is taken", None, "use the variable itself"),
    ("A[0] = &t != 0;", "the address of an object is taken", "&t", None),
    ("A[0] = p;", "a pointer or whole array is used as a value", "p", "one element"),
    ("A[0] = 5 % 2.0;", "the operator % needs integers", "5 % 2.0", None),
    ("t %= 2;", "the operator %= needs integers", "t %= 2", None),
    ("A[0] = ((float *)p)[0];", "elements of another type", "(float *) p", "declare the array with the type"),
    ("B[0][0] = ((double (*)[5])B)[0][0];", "`B` is reached in two shapes", None, "one shape"),
    ("static int k = 0; A[k] = 1;", "static or extern variable", "static int k = 0", "before the region"),
    ("double *q; q = A; *q = 1;", "does not keep the value of its declaration", "double *q", "set the pointer once"),
    ("for (i = 0; i < n; i++) { j = i; double *r = A + j; j++; r[0] = 1; }",
     "the pointer `r` depends on `j`, which changes", "double *r = A + j", "set the pointer once"),
    ("for (i = 0; i < n; i++) { double *r = A + one.a; one.a++; r[0] = 1; }",
     "the pointer `r` depends on a member that is no integer or changes", "one.a", "in front of the region"),
    ("const double k = 1; A;", "no effect that can be analysed", "A", "for, if, while, assignments"),
    ("(void)shaky;", "volatile object", "shaky", "drop `volatile`"),
    ("(void)(A[0] > 0 ? j++ : 0);", "no effect that can be analysed", None, "for, if, while, assignments"),
    ("_Complex int z = A[0]; A[1] = 0;", "the type `_Complex int` is not supported", None, None),
    ("one = (struct pair){.a = 1, .a = 2};", "a whole struct or array is written as a value",
     "(struct pair){.a = 1, .a = 2}", "each member is named once"),
    ("A[0] = __builtin_offsetof(struct S, b);", "the offset of a member is not known", "offsetof", "write the number"),
    ("int w[n] = {1}; A[0] = w[0];", "no constant size", "int w[n]", "as a number"),
    ("int w[3] = {[1] = 2}; A[0] = w[0];", "designators", "int w[3]", "one by one"),
    ("A[i + q] = 1;", "`q` is not declared", None, "declare it"),
]


@pytest.mark.parametrize(("body", "problem", "witness", "hint"), REFUSALS, ids=[r[0][:60] for r in REFUSALS])
def test_refused_with_place_and_hint(body, problem, witness, hint):
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text(region(body), path="given.c")
    error = caught.value
    assert problem in error.problem + (error.witness or "")
    assert error.where.path == "given.c"
    assert LINE <= error.where.line <= LINE + body.count("\n")
    if witness is not None:
        assert witness in (error.witness or "")
    if hint is not None:
        assert hint in (error.hint or "")
    assert str(error).startswith(f"given.c:{error.where.line}: ")
    assert error.exit_code == 2


# Loops that count in no way that a domain describes: a region that the user marked keeps them whole and says so; where
# regions are looked for, they are refused, so that what is inside them is looked at.
UNCOUNTED = [
    ("for (i = 0; i < n; i++)\n for (j = 0; j * j < n; j++) A[i] = j;", "bound is not affine", "`j * j`",
     "bounds may use"),
    ("for (i = A[0]; i < n; i++) A[i] = 0;", "lower bound is not affine", "A[0]", "bounds may use"),
    ("for (i = 0; i < n; i *= 2) A[i] = 0;", "step is not a constant", "i *= 2", "constant step"),
    ("for (i = 1; i < n; i += i) A[i] = 0;", "step is not a constant", "i += i", "constant step"),
    ("for (i = 0; i < n; i += 0) A[i] = 0;", "never ends", "i += 0", "constant step"),
    ("for (i = 0; i < n; j++) A[i] = 0;", "does not step its counter `i`", "j++", "constant step"),
    ("for (;;) A[0] = 1;", "does not begin by setting one counter", "for (; ; )", "constant step"),
    ("for (int k; k < n; k++) A[k] = 1;", "counter has no first value", "for (int k; k < n; k++)", "constant step"),
    ("for (t = 0; t < n; t++) A[0] = 1;", "no integer variable", "t = 0", "int"),
    ("for (i = 0; i < n; i++) { i = i + 1; A[i] = 0; }", "the loop's counter `i` is changed inside the loop",
     "for (i = 0; i < n; i++)", "only the loop's head"),
    ("for (u = 5; u >= 0; u--) A[u] = 1;", "ends without its counter wrapping around", "u >= 0", "signed type"),
    ("for (i = 0; i < idx[idx[0]]; i++) A[i] = 0;", "bound is not affine: it reads memory", "at `idx[idx[0]]`",
     "bounds may use"),
]


@pytest.mark.parametrize(("body", "problem", "witness", "hint"), UNCOUNTED, ids=[r[0][:60] for r in UNCOUNTED])
def test_uncounted_loops(body, problem, witness, hint):
    scop = from_c_text(region(body), path="given.c")
    assert any(problem in note and "is kept whole" in note and note.startswith("given.c:1")
               for note in scop.notes)
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text(region(body), path="given.c", autodetect=True)
    assert problem in caught.value.problem
    assert witness in caught.value.witness
    assert hint in caught.value.hint


INSIDE = [
    ("for (i = 0; i < n; i++)\n for (j = 0; j < n * i; j++) A[0] = i;", "{ S0[j] : 0 <= j < n_value }"),
    ("for (j = 0; j < n; j++)\n for (; i < n; i++) A[i] = 0;", "{ S0[i] : i_first <= i < n }"),
    ("for (i = 0; i < n; i++)\n for (i = 0; i < 2; i++) A[i] = 0;", "{ S1[i] : 0 <= i <= 1 }"),
]


@pytest.mark.parametrize(("body", "domain"), INSIDE)
def test_a_loop_inside_one_that_is_not_counted_is_a_region_of_its_own(body, domain):
    assert any("is kept whole" in note for note in from_c_text(region(body)).notes)
    inside = from_c_text(region(body), autodetect=True)
    assert any(str(statement.domain).endswith(domain) for statement in inside.statements)


OUTLIVING = [
    ("struct pair two; two.a = 1;", "two.a = 2;", "the variable `two`", "struct pair two"),
    ("typedef int number; A[0] = 1;", "number k = 3;", "the type `number`", "typedef int number"),
    ("int w[2] = {1, 2}; A[0] = w[0];", "j = w[1];", "the variable `w`", "int w[2]"),
    ("int m = n; m++; int w[m]; w[0] = 1;", "j = w[0];", "the variable `w`", "int w[m]"),
    ("double one = 1; A[0] = one;", "A[0] = one;", "the variable `one`", "double one"),
    ("double *q = A; *q = 1;", "*q = 2;", "the variable `q`", "double *q"),
]


@pytest.mark.parametrize(("body", "behind", "what", "witness"), OUTLIVING)
def test_declared_inside_and_used_behind(body, behind, what, witness):
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text(region(body).replace("#pragma endscop\n", f"#pragma endscop\n{behind}\n"), path="given.c")
    assert caught.value.problem == f"{what} is declared inside the region and used after it"
    assert witness in caught.value.witness
    assert caught.value.hint == "declare it before the region"


FILES = [
    ("int main(void) { return 0; }", "the file has no scop region", "#pragma scop"),
    ("// #pragma scop\n/* \n#pragma scop\n*/ char *s = \"\\\n#pragma scop\";\n#if 0\n#pragma scop\n#endif\n",
     "no scop region",
     "#pragma scop"),
    ("void f(int n) {\n#pragma scop\n}", "the scop region is never closed", "#pragma endscop"),
    ("void f(int n, double A[n]) {\n  if (n > 3)\n#pragma scop\n    for (int i = 0; i < n; i++) A[i] = 0;\n"
     "#pragma endscop\n  else A[0] = 1;\n}", "a pragma stands between `if` and `else`", "put braces around the region"),
    ("void f(int n) {\n#pragma scop\n#pragma scop\n#pragma endscop\n}",
     "`#pragma scop` while the region that begins in line 2 is still open",
     "#pragma endscop"),
    ("void f(int n) {\n#pragma endscop\n}", "`#pragma endscop` without a `#pragma scop`", "#pragma scop"),
    ("void f(int n) {\n#pragma scop\n for (;;) {\n#pragma endscop\n}\n}", "does not begin and end in one block",
     "braces"),
    ("#pragma scop\nint a;\n#pragma endscop\n", "does not begin and end in one block of one function", "braces"),
    ("void f(int n) {\n_Pragma(\"scop\")\n n = 1;\n_Pragma(\"endscop\")\n}", "comes out of a macro or a _Pragma",
     "write the pragma"),
]


@pytest.mark.parametrize(("text", "problem", "hint"), FILES)
def test_refused_file(text, problem, hint):
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text(text, path="given.c")
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    assert str(caught.value).startswith("given.c")


def test_counter_whose_address_is_known():
    text = ("void g(int *);\nvoid f(int n, double A[n]) {\n int i; g(&i);\n#pragma scop\n"
            "for (i = 0; i < n; i++) A[i] = 1;\n#pragma endscop\n}\n")
    assert "address of the loop's counter" in from_c_text(text).notes[0]
    with pytest.raises(UnsupportedScopError, match="address of the loop's counter"):
        from_c_text(text, autodetect=True)


def test_a_loop_without_a_condition_inside_a_counted_one():
    text = "void f(int n, int *A) {\nfor (int i = 0; i < n; i++) {\nfor (;;) { A[0] = 1; A[1] = 2; }\n}\n}\n"
    with pytest.raises(UnsupportedScopError, match="does not begin by setting one counter"):
        from_c_text(text, autodetect=True)


@pytest.mark.parametrize("call", ["pure(A[0])", "pure(n, A)", "vague(1)"])
def test_declared_pure_but_not_by_value(call):
    text = (f"#pragma polysched pure pure vague\ndouble pure(int, double *);\ndouble vague();\n"
            f"void f(int n, double A[n]) {{\n#pragma scop\nA[0] = {call};\n#pragma endscop\n}}\n")
    with pytest.raises(PolyschedError, match="pure function"):
        from_c_text(text)


def test_arithmetic_that_wraps_whenever_the_code_runs_is_refused_not_assumed_away() -> None:
    text = """
void f(int n, unsigned steps, double a[restrict 2][n])
{
#pragma scop
  for (unsigned t = 0; t < steps; t++)
    for (int i = 1; i < n; i++)
      a[t % 2][i] = a[(t - 1) % 2][i];
#pragma endscop
}
"""
    with pytest.raises(UnsupportedScopError, match=r"`t - 1` does not wrap around .* at which the code runs"):
        from_c_text(text)
    assert from_c_text(text.replace("t = 0", "t = 1")).statements
