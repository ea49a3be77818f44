"""What the front end puts into the Scop: domains, relations, parameters, types, assumptions, signature, schedule."""

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.pipeline import PipelineOptions, optimize
from polysched.scop import body, from_c_text
from polysched.scop.scop import AccessKind, Storage
from polysched.scop.signature import ParameterKind


def one(inside, head="int n, int m, double A[n], double B[n][m], float x[n], unsigned u, unsigned char c", before=""):
    return from_c_text(f"{before}\nvoid f({head}) {{\n#pragma scop\n{inside}\n#pragma endscop\n}}\n")


DOMAINS = [
    ("for (int i = 0; i < n; i++) A[i] = 0;", "[n] -> { S0[i] : 0 <= i < n }"),
    ("for (int i = 0; i <= n; i += 3) A[i] = 0;", "[n] -> { S0[i] : 0 <= i <= n and i mod 3 = 0 }"),
    ("for (int i = n; i >= 2; i -= 2) A[i] = 0;", "[n] -> { S0[i] : 2 <= i <= n and (n - i) mod 2 = 0 }"),
    ("for (int i = 0; i != n; i++) A[i] = 0;", "[n] -> { S0[i] : 0 <= i < n }"),
    ("for (int i = 0; i < n; i++) for (int j = i; j < n && j < 2 * i; j++) A[j] = 0;",
     "[n] -> { S0[i, j] : 0 <= i <= j < n and j < 2i }"),
    ("for (int i = 0; i < (n < m ? n : m); i++) A[i] = 0;", "[n, m] -> { S0[i] : 0 <= i < n and i < m }"),
    ("for (int i = intCeil(n, 3); i < imin(m, intFloor(n, 2)); i++) A[i] = 0;",
     "[n, m] -> { S0[i] : 3i >= n and i < m and 2i + 2 <= n }"),
    ("for (unsigned i = umin(u, 4); i < umax(u, 9); i++) A[i] = 0;",
     "[u] -> { S0[i] : (i >= u or i >= 4) and (i < u or i < 9) and u >= 0 }"),
    ("for (int i = 0; i < n; i++) if (i % 2 || i > 7) A[i] = 0;",
     "[n] -> { S0[i] : 0 <= i < n and (i mod 2 = 1 or i > 7) }"),
    ("for (int i = -n; i < n; i++) if (i % 3 == -2) A[0] = i;",
     "[n] -> { S0[i] : -n <= i < n and i < 0 and (i + 2) mod 3 = 0 }"),
    ("for (int i = 0; i < n / 2; i++) A[i] = 0;", "[n] -> { S0[i] : 0 <= i <= (n / 2) - 1 }"),
    ("for (int i = 0; i < n >> 1; i++) A[i] = 0;", "[n] -> { S0[i] : 0 <= i < floor(n / 2) }"),
    ("for (int i = 0; i < n; i++) { if (i == m) break; A[i] = 0; }",
     "[n, m] -> { S0[i] : 0 <= i < n and (m < 0 or i < m) }"),
    ("for (int i = 0; i < n; i++) { if (i > m) continue; A[i] = 0; }", "[n, m] -> { S0[i] : 0 <= i < n and i <= m }"),
    ("if (n > 3) A[0] = 1;", "[n] -> { S0[] : n > 3 }"),
    ("for (unsigned i = u; i > 0; i--) A[i - 1] = 0;", "[u] -> { S0[i] : 0 < i <= u }"),
    ("for (int i = 0; i < sizeof(int); i++) A[i] = 0;", "{ S0[i] : 0 <= i < 4 }"),
]


@pytest.mark.parametrize(("text", "expected"), DOMAINS)
def test_domain(text, expected):
    scop = one(text)
    domain = scop.statements[0].domain
    assert domain.intersect_params(scop.context).is_equal(isl.Set(expected).intersect_params(scop.context)), str(domain)


RELATIONS = [
    ("A[2 * i + 1] = 0;", "{ S0[i] -> A[2i + 1] }"),
    ("A[i / 4] = 0;", "{ S0[i] -> A[floor(i / 4)] }"),
    ("B[i % 5][n - 1 - i] = 0;", "[n] -> { S0[i] -> B[i mod 5, n - 1 - i] }"),
    ("*(A + i + 1) = 0;", "{ S0[i] -> A[i + 1] }"),
    ("(*(B + i))[2] = 0;", "{ S0[i] -> B[i, 2] }"),
    ("int k = i + 2; A[k - 1] = 0;", "{ S0[i] -> A[i + 1] }"),
    ("A[(i + 1) % n] = 0;", "[n] -> { S0[i] -> A[i + 1] : i < n - 1; S0[n - 1] -> A[0] }"),
    ("A[(i + n - 1) % n] = 0;", "[n] -> { S0[i] -> A[i - 1] : i > 0; S0[0] -> A[n - 1] }"),
    ("A[(i + 2 * n - 1) / n] = 0;", "[n] -> { S0[i] -> A[2] : i > 0; S0[0] -> A[1] }"),
    ("A[-((i - n) % n)] = 0;", "[n] -> { S0[i] -> A[n - i] : i > 0; S0[0] -> A[0] }"),
]


@pytest.mark.parametrize(("text", "expected"), RELATIONS)
def test_relation(text, expected):
    scop = one(f"for (int i = 0; i < n; i++) {{ {text} }}")
    (write,) = scop.statements[0].writes
    assert write.exact
    assert write.kind is AccessKind.MUST_WRITE
    wanted = isl.Map(expected).intersect_domain(scop.statements[0].domain)
    assert write.relation.is_equal(wanted), str(write.relation)


def test_a_remainder_by_a_parameter_with_many_quotients_may_reach_anything():
    scop = one("for (int i = 0; i < n; i++) B[0][i % m] = 1;")
    (write,) = scop.statements[0].writes
    assert not write.exact
    assert write.relation.is_equal(isl.Map("[n, m] -> { S0[i] -> B[0, j] : 0 <= i < n and 0 <= j < m }"))


def test_data_dependent_write_may_reach_anything_inside():
    scop = one("for (int i = 0; i < n; i++) B[i][k[i]] = 1;", head="int n, int m, double B[n][m], int k[n]")
    (write,) = scop.statements[0].writes
    assert not write.exact
    assert write.kind is AccessKind.MAY_WRITE
    assert write.relation.is_equal(isl.Map("[n, m] -> { S0[i] -> B[i, j] : 0 <= i < n and 0 <= j < m }"))
    assert [r.array for r in scop.statements[0].reads] == ["k"]


def test_types_are_those_of_c():
    scop = one("for (int i = 0; i < n; i++) x[i] = x[i] * 0.5f + c / 2 - u * 1.0;")
    (assign,) = scop.statements[0].body
    subtraction = assign.value
    assert subtraction.dtype.name == "float64"
    assert subtraction.left.dtype.name == "float32"
    assert subtraction.left.left.right == body.Literal("0.5f", 0.5, subtraction.left.dtype)
    assert subtraction.left.right.dtype.name == "int32"
    assert assign.dtype.name == "float32"


@pytest.mark.parametrize(("inner", "subscript", "reached", "allowed"), [
    ("unsigned", "j - i + 40", "40 + j - i", "0 <= n <= 41"),
    ("int", "j - i + 40", "40 + j - i", "0 <= n <= 41"),
    ("unsigned long", "40 + (j - i)", "40 + j - i", "0 <= n <= 41"),
    ("int", "2 * (j - i + 12) - 4", "2j - 2i + 20", "0 <= n <= 11"),
    ("unsigned", "-i + 70 + j", "70 + j - i", "0 <= n <= 71"),
    ("unsigned", "((j - i) << 1) + 80", "80 + 2j - 2i", "0 <= n <= 41"),
    ("unsigned long", "(50 - i) + j", "50 + j - i", "0 <= n <= 51"),   # the first in 32 bits, the sum in 64
])
def test_arithmetic_without_a_sign_may_wrap_on_the_way(inner, subscript, reached, allowed):
    scop = one(f"for (unsigned i = 0; i < n; i++) for ({inner} j = 0; j < 8; j++) x[{subscript}] = 0;",
               head="unsigned n, float x[restrict 139]")
    (write,) = scop.statements[0].writes
    assert write.exact
    expected = isl.Map(f"[n] -> {{ S0[i, j] -> x[{reached}] : 0 <= i < n and 0 <= j < 8 }}")
    assert write.relation.intersect_params(scop.context).is_equal(expected.intersect_params(scop.context))
    assert scop.context.params().is_equal(isl.Set(f"[n] -> {{ : {allowed} }}"))


@pytest.mark.parametrize("subscript", ["(i - 1) / 2", "(i - 1) % 3", "(i - 1) + k", "i - 1 < 5 ? 0 : 1"])
def test_arithmetic_without_a_sign_does_not_wrap_where_its_value_is_used(subscript):
    for first, right in ((0, False), (1, True)):
        text = (f"void f(unsigned n, unsigned long k, float *x) {{\n#pragma scop\n"
                f"for (unsigned i = {first}; i < n; i++) x[{subscript}] = 0;\n#pragma endscop\n}}\n")
        if right:
            assert from_c_text(text).statements
        else:
            with pytest.raises(UnsupportedScopError, match="`i - 1` does not wrap around"):
                from_c_text(text)


def test_no_wrap_becomes_an_assumption_with_a_condition():
    scop = from_c_text("void f(unsigned n, double *A) {\n#pragma scop\nfor (unsigned i = 0; i < n - 1; i++) A[i] = 0;\n"
                       "#pragma endscop\n}\n")
    (assumption,) = scop.assumptions
    assert assumption.kind == "no-wrap"
    assert assumption.condition == "(long)n >= 1"
    assert assumption.parameters.is_equal(isl.Set("[n] -> { : 1 <= n <= 4294967295 }"))
    assert scop.context.is_equal(isl.Set("[n] -> { : 1 <= n <= 4294967295 }"))


@pytest.mark.parametrize("first", ["x[i] = 0;", ""])
def test_statements_that_a_later_assumption_excludes_are_none(first):
    scop = one(f"for (int i = 0; i < n; i++) {{ {first} if (i == m) A[i] = 0; }} __builtin_assume(n < m);",
               head="int n, int m, double A[restrict 90], double *x")
    assert [a.name for a in scop.arrays] == (["x"] if first else [])
    assert len(scop.statements) == len(scop.arrays)
    assert scop.schedule.get_domain().is_equal(scop.domain)
    assert "x[" in optimize(scop, PipelineOptions(guard=True, scheduler="isl")).text or not first


def test_context_knows_types_and_extents():
    scop = one("for (int i = 0; i < m + c; i++) A[i] = 0;")
    assert scop.context.is_equal(isl.Set(
        "[n, m, c] -> { : 1 <= n <= 2147483647 and 1 <= m <= 2147483647 and 0 <= c <= 255 }"))
    assert [p.name for p in scop.parameters] == ["n", "m", "c"]


def test_no_alias_is_assumed_only_where_c_allows_overlap():
    head = "int n, double *A, double *restrict B, float *C, double *D"
    scop = one("for (int i = 0; i < n; i++) { A[i] = B[i] + C[i] + D[i]; C[i] = 1; }", head=head)
    (assumption,) = scop.assumptions
    assert assumption.kind == "no-alias"
    assert assumption.text == "the memory of A, D does not overlap"
    restricted = one("for (int i = 0; i < n; i++) A[i] = B[i];", head="int n, double *restrict A, double *restrict B")
    assert restricted.assumptions == ()
    sized = one("for (int i = 0; i < n; i++) A[i] = B[i];", head="int n, double A[n], double B[n]")
    assert "sizeof(double) * (n) <= (const char *)&A[0]" in sized.assumptions[0].condition


def test_storage_and_spelling():
    scop = from_c_text("double total; void f(int n, double A[n]) {\n double w[3];\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) { double t = A[i]; w[i % 3] = t; total += t; }\n"
                       "#pragma endscop\n}\n")
    found = {a.name: (a.storage, a.c_element, a.dtype.name) for a in scop.arrays}
    assert found == {"A": (Storage.ARGUMENT, "A[{}]", "float64"), "t": (Storage.LOCAL, "t", "float64"),
                     "w": (Storage.OUTER, "w[{}]", "float64"), "total": (Storage.OUTER, "total", "float64")}


def test_names_are_safe_for_isl_and_keep_their_spelling():
    scop = from_c_text("void f(int floor, int mod, double S0[floor], double or[floor]) {\n#pragma scop\n"
                       "for (int exists = 0; exists < floor - mod; exists++) S0[exists] = or[mod];\n"
                       "#pragma endscop\n}\n")
    assert [p.spelling for p in scop.parameters] == ["floor", "mod"]
    assert {a.c_element for a in scop.arrays} == {"S0[{}]", "or[{}]"}
    assert isl.Schedule(str(scop.schedule)).get_domain().is_equal(scop.schedule.get_domain())
    for statement in scop.statements:
        assert isl.Set(str(statement.domain)).is_equal(statement.domain)
        for access in statement.accesses:
            assert isl.Map(str(access.relation)).is_equal(access.relation)


def test_schedule_as_written_has_one_band_member_per_loop():
    scop = one("for (int i = 0; i < n; i++) {\nA[i] = 0;\nfor (int j = m - 1; j >= 0; j--) B[i][j] = A[i];\n}")
    order = scop.schedule.get_map().intersect_domain(scop.domain)
    assert order.is_equal(isl.UnionMap(
        "[n, m] -> { S0[i] -> [i, 0, 0] : 0 <= i < n; S1[i, j] -> [i, 1, -j] : 0 <= i < n and 0 <= j < m }"))


def test_loop_that_does_nothing_but_can_be_left_has_its_place_in_the_order():
    scop = one("for (int i = 0; i < n; i++) { if (x[i] > 0) break; }\nA[0] = 1;")
    assert scop.schedule.get_domain().is_equal(scop.domain)


def test_delinearised_when_rows_are_long_enough():
    scop = one("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) P[i * n + j] = 0;",
               head="int n, int m, double *P")
    (write,) = scop.statements[0].writes
    assert write.exact
    assert write.relation.is_equal(isl.Map("[n, m] -> { S0[i, j] -> P[i, j] : 0 <= i < n and 0 <= j < m }"))
    assert [a.condition for a in scop.assumptions] == ["(long)n <= 0 || (long)n >= (long)m"]
    assert len(write.subscripts) == 1


def test_an_integer_stands_for_the_polynomial_that_it_is_set_to():
    scop = one("""
    for (int b = 0; b < n; b++) for (int t = 0; t < m; t++) {
      int row = (b * m + t) * k;
      for (int i = 0; i < k; i++) { long at = row + i; x[b] += y[at]; }
    }""", head="int n, int m, int k, float x[restrict n], float *restrict y")
    assert [a.name for a in scop.arrays] == ["x", "y"]
    assert len(scop.statements) == 1
    read, = (a for a in scop.statements[0].reads if a.array == "y")
    assert read.exact
    assert read.relation.range().is_subset(isl.Set(
        "[n, m, k] -> { y[b, t, i] : 0 <= b < n and 0 <= t < m and 0 <= i < k }"))


@pytest.mark.parametrize("setting", [
    "int at = i * m + j; at += 1;",                  # changes
    "unsigned at = i * m + j;",                      # could wrap around
    "short at = i * m + j;",                         # could be cut off
    "int at = i * m + d[j];",                        # reads memory
    "int at = s[i].at;"])                            # reads a member, whose name is no variable
def test_an_integer_that_is_no_fixed_polynomial_stays_a_variable(setting):
    scop = one(f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {setting} x[at] = 1; }}",
               head="int n, int m, int d[restrict m], struct { int at; } *restrict s, float *restrict x")
    assert "at" in {a.name for a in scop.arrays}


@pytest.mark.parametrize(("before", "definition"), [
    ("int rows = n / 2 + 1;", "(n / 2) + 1"),
    ("int half = n / 2; int rows = half * m;", "(n / 2) * m"),
    ("int rows = n; rows++;", ""),
    ("int rows; rows = n;", ""),
    ("m = 3; int rows = m;", ""),
    ("int rows = d[0];", ""),
    ("static int rows = 5;", "")])
def test_what_a_variable_of_the_function_is_set_to(before, definition):
    scop = from_c_text(f"void f(int n, int m, int d[9], float x[9]) {{ {before}\n#pragma scop\n"
                       "for (int i = 0; i < rows; i++) x[i] = 0;\n#pragma endscop\n}")
    assert [p.definition for p in scop.parameters if p.name == "rows"] == [definition]


@pytest.mark.parametrize(("subscript", "row"), [
    ("i * (n + 1) + j", "n + 1"), ("(i + 2) * (n + 4) + j + 3", "n + 4"), ("i * (n + 12) + i", "n + 13"),
    ("((i + 5) * (n + 12) + i) * (n + 12) + i + 7", "n + 12")])
def test_rows_longer_than_a_parameter(subscript, row):
    scop = one(f"for (int i = 0; i < (n < m ? n : m); i++) for (int j = 0; j < n; j++) P[{subscript}] = 0;",
               head="int n, int m, double *P")
    (array,), ((write,),) = scop.arrays, (s.writes for s in scop.statements)
    assert write.exact
    assert not scop.assumptions
    assert set(array.c_extents[1:]) == {f"(long){row}"}


def test_of_rows_longer_than_a_parameter_little_is_assumed():
    scop = one("""P[2 * (n + 12) + 11] = 0;
    for (int i = 0; i < m; i++) P[(i + 3) * (n + 12) + 4] = 0;""", head="int n, int m, double *P")
    assert [a.condition for a in scop.assumptions] == ["(long)n >= 0"]


@pytest.mark.parametrize("subscript", ["i * j", "i * n + 2 * j"])
def test_not_delinearised_where_that_would_be_wrong(subscript):
    scop = one(f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) P[{subscript}] = 0;",
               head="int n, double *P")
    (write,) = scop.statements[0].writes
    assert not write.exact
    assert write.kind is AccessKind.MAY_WRITE


def test_declared_pure_functions_are_called():
    for extra in ("#pragma polysched pure half", ""):
        scop = from_c_text(f"{extra}\nfloat half(float);\nvoid f(int n, double A[n]) {{\n#pragma scop\n"
                           "A[0] = half(A[1]);\n#pragma endscop\n}\n", pure=() if extra else ("half",))
        (assign,) = scop.statements[0].body
        assert isinstance(assign.value, body.Call)
        assert assign.value.dtype.name == "float32"
        assert isinstance(assign.value.arguments[0], body.Cast)


def test_a_variable_changed_through_its_address_is_no_parameter():
    scop = from_c_text("static void set(int *a, int v) { *a = v; }\nvoid f(int n, int x[n], int m) {\n int s = 2;\n"
                       "#pragma scop\nset(&s, n - 1); *&m = 3;\nfor (int i = 0; i < n; i++) if (i < s + m) x[i] = 0;\n"
                       "#pragma endscop\n}\n")
    assert [p.name for p in scop.parameters] == ["n"]
    assert {a.name for a in scop.arrays} == {"s", "m", "x"}
    assert [[a.array for a in s.writes] for s in scop.statements] == [["s"], ["m"], ["x"]]


def test_signature():
    scop = from_c_text("typedef float real;\nstruct s { int a; };\nstatic int f(int n, real alpha, "
                       "double A[restrict 5][n], const int *k, struct s *t) {\n"
                       "#pragma scop\nA[0][0] = k[0];\n#pragma endscop\nreturn 0;\n}\n")
    signature = scop.source.signature
    assert (signature.name, signature.static, signature.return_type) == ("f", True, "int")
    kinds = [(p.name, p.kind, p.c_extents) for p in signature.parameters]
    assert kinds == [("n", ParameterKind.INTEGER, ()), ("alpha", ParameterKind.FLOATING, ()),
                     ("A", ParameterKind.ARRAY, ("5", "n")), ("k", ParameterKind.ARRAY, (None,)),
                     ("t", ParameterKind.OTHER, ())]
    assert signature.parameters[2].restrict
    assert signature.parameters[3].constant
    assert signature.parameters[1].dtype.name == "float32"


def test_reads_that_a_condition_protects_stay_inside_the_array():
    scop = one("for (int i = 0; i < n; i++) if (x[i] > 0 && i > 0) A[i - 1] = i < n - 1 ? A[i + 1] : 0;")
    reached = {a.reference: a.relation.range() for a in scop.statements[0].accesses if a.array == "A"}
    inside = isl.Set("[n] -> { A[a] : 0 <= a < n }")
    assert len(reached) == 2
    assert all(r.is_subset(inside) for r in reached.values())


@pytest.mark.parametrize("n", [0, 1, 4, 9])
@pytest.mark.parametrize("test", ["(j < i) & (j < m)", "(j < i) & !(j >= m) & (j < n)",
                                  "((j < i) | (j < m)) & (j < n)"])
def test_conditions_without_short_cuts(agree, n, test):
    text = f"""
void f(int n, int m, double x[20][20]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; {test}; j++) x[i][j] = i + j;
#pragma endscop
}}"""
    agree(text, n=n, m=3)


def test_complex_headers_can_be_read_anywhere_in_a_file():
    text = "#include <complex.h>\n#include <sys/file.h>\n" \
           "double complex g(double complex z) { return z * I + cexpf(I); }\n"
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) x[i] = 1;\n#pragma endscop\n"
    assert len(from_c_text(f"{text}void f(int n, double *x) {{\n{loop}}}\n").statements) == 1


@pytest.mark.parametrize("subscript", ["((i % 6) + 6) % 6 * 3 + (i + n) / 7", "(6 + i % 6) % 6",
                                       "((i % 3) + 6) % 6 + 3",
                                       "(i + n) % 5", "(i + n) / 3 + (i % 4 + 4) % 4", "((i + 1) % 4 + 4) % 4"])
@pytest.mark.parametrize("n", [0, 1, 7, 12])
def test_remainders_that_are_made_positive(agree, n, subscript):
    text = f"""
void f(int n, double x[60]) {{
#pragma scop
  for (int i = -n; i < n; i++) x[{subscript}] += i;
#pragma endscop
}}"""
    agree(text, n=n)


def test_a_remainder_that_is_made_positive_has_one_piece():
    scop = one("for (int i = -n; i < n; i++) A[((i % 6) + 6) % 6] = i;", head="int n, double A[6]")
    (access,) = scop.statements[0].writes
    assert access.relation.n_basic_map() == 1
    unsigned = one("for (unsigned i = 0; i < n; i++) A[((i % 6) + 7) % 6] = i;", head="unsigned n, double A[6]")
    assert unsigned.statements[0].writes[0].exact
