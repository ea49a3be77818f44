"""CLooG's input, as Pluto writes it and as it is written here, for the program that it is of and for no other."""

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling import Schedule, original, pluto
from polysched.scheduling.interchange.cloog import has_matrices, read_matrices, write_matrices
from polysched.scheduling.primitives import Tile
from polysched.scheduling.steps import apply
from polysched.scop import from_c_text
from polysched.scop.points import instances_in_order
from tests.scop_builder import build_scop

PROGRAM = """void f(int N, double A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = 1;
#pragma endscop
}"""

# laid out as Pluto does with --tile: tile iterators first, a number in place of the flag of the last names
TILED = """# CLooG script generated automatically by PLUTO
# language: C
c

1 3
1 1 -1

1
N

# Number of statements
1

# S1 (A[i][j] = 1;)
8 7
1 0 0 1 0 0 0
1 0 0 -1 0 1 -1
1 0 0 0 1 0 0
1 0 0 0 -1 1 -1
1 -32 0 1 0 0 0
1 32 0 -1 0 0 31
1 0 -32 0 1 0 0
1 0 32 0 -1 0 31
0 0 0

# we want cloog to set the iterator names
0

# Number of scattering functions
1

# T(S1)
4 11
0 1 0 0 0 0 -1 0 0 0 0
0 0 1 0 0 -1 0 0 0 0 0
0 0 0 1 0 0 0 -1 0 0 0
0 0 0 0 1 0 0 0 -1 0 0

# we will set the scattering dimension names
4
t1 t2 t3 t4
"""


@pytest.fixture(scope="module")
def program() -> Dependences:
    return analyse(from_c_text(PROGRAM))


def test_tiles_of_pluto_are_read(program: Dependences) -> None:
    assert has_matrices(TILED)
    read = Schedule.from_text(TILED, program)
    dates = isl.UnionMap("[N] -> { S0[i, j] -> [floor(j/32), floor(i/32), i, j] : 0 <= i, j < N }")
    assert read.tree.get_map().intersect_domain(read.tree.get_domain()).is_equal(dates)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("1 0 0 -1 0 1 -1", "1 0 0 -1 0 1 -2", r"other iterations of S0\n  witness: .* only in the program"),
    ("1 0 0 0 -1 1 -1", "1 0 0 0 -1 1 0", r"other iterations of S0\n  witness: .* only in the CLooG input"),
    ("statements\n1", "statements\n2", "it has 2 statements, the program 1"),
    ("functions\n1", "functions\n0", "0 scattering functions for 1 statements"),
    ("1\nN\n", "1\nM\n", r"other parameters\n  witness: M is none of the program's\n  hint: the program has N"),
    ("1\nN\n", "1\nN N\n", "1 columns for N N"),
    ("0 0 0\n\n# we", "# we", "three zeros stand behind a domain"),
    ("8 7", "8 6", "the domain of S0 has other columns|a constraint has 6 numbers"),
    ("8 7", "8 7 1", "the domain of S0 has other columns"),
    ("8 7", "9 7", "a constraint has 7 numbers"),
    ("1 0 0 1 0 0 0", "2 0 0 1 0 0 0", "the first of which is 0 or 1"),
    ("0 0 0 0 1 0 0 0 -1 0 0\n", "1 0 0 0 1 0 0 0 -1 0 0\n", "an instance of S0 has two dates"),
    ("8 7\n", "0 999999999\n", "the domain of S0 has iterators without constraints"),
    ("4 11\n", "0 999999999\n", "the scattering function of S0 has dimensions without values"),
    ("4 11", "4 10", "has 10 numbers|other columns"),
])
def test_other_texts_are_refused(program: Dependences, old: str, new: str, message: str) -> None:
    assert old in TILED
    with pytest.raises(UsageError, match=message):
        read_matrices(TILED.replace(old, new), program.scop) if "two dates" not in message else Schedule.from_text(
            TILED.replace(old, new), program)


@pytest.mark.parametrize("cut", range(1, 1 + TILED.splitlines().index("0 0 0 0 1 0 0 0 -1 0 0")))
def test_a_text_that_ends_early_is_refused(program: Dependences, cut: int) -> None:
    with pytest.raises(UsageError):
        Schedule.from_text("\n".join(TILED.splitlines()[:cut]) + "\n", program)


@pytest.mark.parametrize("text", ["T(S1): (i, j)", "", "c", "{ S0[i] -> [i] }", "<OpenScop>\nC\n", "cat\n"])
def test_other_forms_have_no_matrices(text: str) -> None:
    assert not has_matrices(text)


SPOKEN = """C
[N] -> { : N >= 1 }
0
1
[N] -> { [i, j] : 0 <= i, j < N }
0 0 0
0
1
[N] -> { [i, j]
    -> [j, i] }
0
"""


def test_sets_and_relations_in_notation_of_isl_are_read(program: Dependences) -> None:
    wanted = isl.UnionMap("[N] -> { S0[i, j] -> [j, i] : 0 <= i, j < N }")
    assert read_matrices(SPOKEN, program.scop).intersect_domain(program.scop.domain).is_equal(
        wanted.intersect_domain(program.scop.domain))
    in_long = SPOKEN.replace("[N] -> { : N >= 1 }", "2 4 0 0 1 1\n0 -2 1 0\n1 0 1 -2")
    assert read_matrices(in_long.replace("[N] -> { [i, j]\n", "[N] -> { [i, j] "), program.scop).is_equal(
        read_matrices(SPOKEN, program.scop).intersect_params(isl.Set("[N] -> { : }")))


@pytest.mark.parametrize(("old", "new", "message"), [
    ("{ : N >= 1 }", "{ [i] : N >= 1 }", "dimensions that are no parameters"),
    ("[N] -> { : N >= 1 }", "1 4 1 0 0 1\n1 1 1 -2", "dimensions that are no parameters"),
    ("{ : N >= 1 }", "{ : N > N }", "no values at all"),
    ("[N] -> { : N", "[M] -> { : M", "M is none of the program's"),
    ("[N] -> { : N >= 1 }", "[M] -> { : }", "M is none of the program's"),
    ("i, j < N }\n", "i, j < N and N < N }\n", "the domain of S0 is empty"),
    ("[N] -> { [i, j] : 0 <= i, j", "[M] -> { [i, j] : 0 <= i, j", "the domain of S0 is no set or relation in isl"),
    ("-> [j, i] }", "-> [j, q] }", "is no set or relation|dimensions without values"),
    ("-> [j, i] }", "-> [j, i]", "the end of the scattering function of S0 is missing"),
    ("[i, j]\n", "[i]\n", "is over 1 iterators instead of 2|is no set or relation"),
    ("0 <= i, j < N }", "1 <= i, j < N }", r"S0\[\d, \d\] where N = \d+ is only in the program")])
def test_what_is_no_notation_of_isl_is_refused(program: Dependences, old: str, new: str, message: str) -> None:
    assert old in SPOKEN
    with pytest.raises(UsageError, match=message):
        Schedule.from_text(SPOKEN.replace(old, new, 1), program)


def test_parameters_without_names_are_in_order(program: Dependences) -> None:
    text = TILED.replace("1\nN\n", "0\n")
    assert read_matrices(text, program.scop).is_equal(read_matrices(TILED, program.scop))


def test_tiles_round_trip_by_local_dimensions(program: Dependences) -> None:
    made = apply(original(program), Tile(loops=("i", "j"), sizes=(8, 4)))
    assert Schedule.from_text(made.to_text("cloog"), program).tree.get_map().is_equal(made.tree.get_map())


def test_domains_in_pieces_and_with_strides_round_trip() -> None:
    scop = build_scop([("S0", "{ S0[i] : 0 <= i < N and i mod 3 = 1; S0[i] : i = N + 5 }", [], ["{ S0[i] -> A[i] }"])],
                      "{ S0[i] -> [i] }")
    dependences = analyse(scop)
    text = original(dependences).to_text("cloog")
    again = Schedule.from_text(text, dependences)
    assert again.tree.get_map().intersect_domain(scop.domain).is_equal(scop.schedule.get_map().intersect_domain(
        scop.domain))


def test_a_program_without_parameters_round_trips() -> None:
    dependences = analyse(from_c_text("""void f(double A[9]) {
#pragma scop
  A[0] = 1;
  for (int i = 8; i > 0; i--) A[i] = A[i - 1];
#pragma endscop
}"""))
    for schedule in (original(dependences), pluto(dependences)):
        again = Schedule.from_text(schedule.to_text("cloog"), dependences)
        names = [s.name for s in dependences.scop.statements]
        assert instances_in_order(dependences.scop.domain, again.tree, {}, names) == instances_in_order(
            dependences.scop.domain, schedule.tree, {}, names)


def test_dates_in_pieces_are_refused() -> None:
    scop = build_scop([("S0", "{ S0[i] : 0 <= i < N }", [], ["{ S0[i] -> A[i] }"])], "{ S0[i] -> [i] }")
    pieces = isl.UnionMap("[N] -> { S0[i] -> [i] : i < 5; S0[i] -> [2i] : i >= 5 }")
    tree = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(pieces.intersect_domain(scop.domain)))
    with pytest.raises(UsageError, match="the dates of S0 are not one matrix"):
        write_matrices(tree, scop)
