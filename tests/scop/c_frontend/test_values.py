"""What the front end puts into the Scop: domains, relations, parameters, types, assumptions, signature, schedule."""

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import body, from_c_text
from polysched.scop.scop import AccessKind, Storage
from tests.scop.c_frontend.one_region import one

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


def test_atomics_are_refused_and_the_rest_of_their_file_is_read():
    text = "#include <stdatomic.h>\n" \
           "static atomic_int hits; static atomic_flag lock = ATOMIC_FLAG_INIT; static _Atomic(long) total;\n" \
           "void g(void) { while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) ;\n" \
           "  atomic_fetch_add(&hits, 1); atomic_thread_fence(memory_order_seq_cst); atomic_flag_clear(&lock); }\n"
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) {}\n#pragma endscop\n"
    whole = f"{text}void f(int n, double *x) {{\n{loop.format('{}')}}}\n"
    assert len(from_c_text(whole.replace("{}", "x[i] = 1;")).statements) == 1
    for statement, problem in (("hits += i;", "an atomic object"), ("x[i] = total;", "an atomic object"),
                          ("atomic_store(&hits, i);", "must have side effects"),
                          ("x[i] = atomic_load(&hits);", "may have side effects")):
        with pytest.raises(UnsupportedScopError, match=problem):
            from_c_text(whole.replace("{}", statement))


def test_headers_of_threads_and_of_waiting_for_input_can_be_read():
    text = "#include <features.h>\n#include <threads.h>\n#include <unistd.h>\n#include <sys/time.h>\n" \
           "int ready(thrd_t t) { fd_set s; struct timeval w = {0, 0}; FD_ZERO(&s); FD_SET(STDIN_FILENO, &s);\n" \
           "  return select(1, &s, 0, 0, &w) || thrd_join(t, 0) == thrd_success; }\n"
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
