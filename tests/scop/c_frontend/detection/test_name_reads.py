"""How often names are read inside a region and in all, so that whoever drops the region knows what nobody reads."""

from polysched.scop.c_frontend.detection.name_reads import file_reads
from polysched.scop.scop import NameReads
from tests.scop.c_frontend.read_region import region_in

TEXT = """
static int shared[9], hidden;
int open;
static int helper(int v) { return v + shared[0]; }
void other(int k) { hidden = k; shared[1] = open; }
void f(int n, int *A) {
  int k = n, unused = 3, twice;
  struct { int n; } s;
  twice = k;
#pragma scop
  for (int i = 0; i < n; i++) {
    A[i] += k;
    s.n = helper(i);
    hidden = A[i];
    twice = i;
    k = k + 1;
  }
#pragma endscop
  A[0] = k + s.n + hidden;
}
"""
VARIABLES = {"n", "A", "k", "unused", "twice", "s"}


def reads(text: str = TEXT) -> dict[str, NameReads]:
    tree, region, _ = region_in(text)
    return {r.name: r for r in file_reads("in.c", tree).of_region(region, VARIABLES)}


def test_reads_inside_and_in_the_function() -> None:
    found = reads()
    assert {name: (r.inside, r.in_all) for name, r in found.items() if r.function == "f"} == {
        "n": (1, 2), "A": (2, 3), "k": (2, 4), "s": (1, 2)}


def test_a_plain_assignment_reads_nothing_and_a_member_is_no_name() -> None:
    assert {"twice", "unused"}.isdisjoint(reads())


def test_static_names_count_in_the_whole_file() -> None:
    found = reads()
    assert (found["helper"].function, found["helper"].inside, found["helper"].in_all) == (None, 1, 1)
    assert "open" not in found
    assert "hidden" not in found, "it is only written there"
    assert reads(TEXT.replace("A[i] += k;", "A[i] += hidden + shared[i];"))["shared"].in_all == 3


def test_a_variable_of_the_function_hides_a_static_one() -> None:
    hiding = TEXT.replace("int k = n, unused", "int shared = n, k = n, unused").replace("A[i] += k;", "A[i] += shared;")
    assert "shared" not in reads(hiding)
