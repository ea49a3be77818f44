"""`Schedule.to_text` and `Schedule.from_text` in every form."""

import random
import re
from dataclasses import replace

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.emit_c import emit
from polysched.errors import IllegalScheduleError, PolyschedError, UsageError
from polysched.fuzz.generator import generate
from polysched.fuzz.hand_steps import random_steps
from polysched.fuzz.random_strategy import random_strategy
from polysched.scheduling import Schedule, by_strategy, original, pluto
from polysched.scheduling.interchange.forms import WRITERS
from polysched.scheduling.primitives import Tile
from polysched.scheduling.steps import apply
from polysched.scop import from_c_text
from polysched.scop.points import instances_in_order
from polysched.tiling import TilingOptions, tile

JACOBI = """void f(int t_end, int n, double a[n], double b[n]) {
#pragma scop
  for (int t = 0; t < t_end; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i-1] + a[i+1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }
#pragma endscop
}"""


def order(schedule: Schedule) -> list[tuple[str, tuple[int, ...]]]:
    """The instances at one small size, in order."""
    return instances_in_order(schedule.scop.domain, schedule.tree, {"t_end": 3, "n": 6},
                              [s.name for s in schedule.scop.statements])


@pytest.mark.parametrize("form", ["stored", "tree", "map", "pluto", "openscop", "cloog"])
def test_every_form_round_trips(form: str) -> None:
    dependences = analyse(from_c_text(JACOBI))
    for schedule in (original(dependences), pluto(dependences)):
        again = Schedule.from_text(schedule.to_text(form), dependences)
        assert order(again) == order(schedule)
        assert again.to_text(form) == schedule.to_text(form)


@pytest.mark.parametrize("seed", range(16))
def test_schedules_of_random_programs_round_trip_or_are_refused_in_words(seed: int) -> None:
    dependences = analyse(from_c_text(generate(seed).text()))
    if seed % 3 == 0:
        schedule = by_strategy(dependences, random_strategy(dependences.scop, seed))
    elif seed % 3 == 1:
        schedule = random_steps(original(dependences), seed=seed, count=3)
    else:
        schedule = pluto(dependences)
        schedule = replace(schedule, tree=tile(schedule, TilingOptions(sizes=3, register=False), alone=False).tree)
    sizes = {p.name: 4 for p in dependences.scop.parameters}

    def ordered(own: Schedule) -> list[tuple[str, tuple[int, ...]]]:
        return instances_in_order(own.scop.domain, own.tree, sizes, [s.name for s in own.scop.statements])
    refused = {}
    for form in ("stored", *WRITERS):
        try:
            text = schedule.to_text(form)
        except UsageError as refusal:
            refused[form] = refusal.hint or refusal.witness
            continue
        assert ordered(Schedule.from_text(text, schedule.dependences)) == ordered(schedule), form
    assert set(refused) <= {"pluto", "halide", "cloog"}, "the others say any schedule"
    assert all(refused.values()), "with a witness or a hint"


@pytest.mark.parametrize("form", ["stored", "tree", "map", "halide", "openscop", "cloog"])
@pytest.mark.parametrize("head", ["void f(void)", "void f(int n, double A[n])"])
def test_a_region_without_statements_round_trips(form: str, head: str) -> None:
    dependences = analyse(from_c_text(f"{head} {{\n#pragma scop\n#pragma endscop\n}}"))
    again = Schedule.from_text(original(dependences).to_text(form), dependences)
    assert again.tree.get_domain().is_empty()


def test_a_region_without_statements_has_no_lines() -> None:
    schedule = original(analyse(from_c_text("void f(int n) {\n#pragma scop\n#pragma endscop\n}")))
    with pytest.raises(UsageError, match="a region without statements has no lines\n  hint: write the tree or the map"):
        schedule.to_text("pluto")


@pytest.mark.parametrize("form", ["stored", *WRITERS])
@pytest.mark.parametrize("body", ["A[0] = 1;", "for (int i = 0; i < n; i++) A[i] = 1;"])
def test_one_statement_as_written_round_trips(form: str, body: str) -> None:
    dependences = analyse(from_c_text(f"void f(int n, double A[n]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}"))
    schedule = original(dependences)
    again = Schedule.from_text(schedule.to_text(form), dependences)
    assert again.tree.get_map().is_equal(schedule.tree.get_map())


def test_steps_round_trip_as_chains() -> None:
    dependences = analyse(from_c_text("""void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 1;
#pragma endscop
}"""))
    made = apply(original(dependences), Tile(loops=("i", "j"), sizes=(8, 4)))
    assert Schedule.from_text(made.to_text("halide"), dependences).tree.get_map().is_equal(made.tree.get_map())


def test_refusals() -> None:
    dependences = analyse(from_c_text(JACOBI))
    schedule = original(dependences)
    with pytest.raises(UsageError, match="no form 'xml' of schedules\n  hint: there are stored, tree, map, pluto"):
        schedule.to_text("xml")
    with pytest.raises(UsageError, match="no schedule in a form that is known\n  witness: hello"):
        Schedule.from_text("hello", dependences)
    for text in ("T(S1): (-t, i, 0)\nT(S2): (-t, i, 1)", "{ S0[t, i] -> [t, i, 1]; S1[t, i] -> [t, i, 0] }"):
        with pytest.raises(IllegalScheduleError, match=r"witness: S\d\[\d, \d\] must run before"):
            Schedule.from_text(text, dependences)
    assert set(WRITERS) == {"tree", "map", "pluto", "halide", "openscop", "cloog"}


@pytest.mark.parametrize(("text", "witness"), [
    ("[n, m] -> { S0[i] -> [-i] }", ""), ("[n, m] -> { S0[i] -> [n - i] }", "n"),
    ('{ domain: "[m] -> { S0[i] : 0 <= i < m }", child: { schedule: "[m, q] -> [{ S0[i] -> [(-i)] }]" } }', "q")])
def test_parameters_that_the_program_has_not(text: str, witness: str) -> None:
    """A size that only another array has is none of the region's."""
    dependences = analyse(from_c_text("""void f(int n, int m, double A[n][m], double h[m])
{
#pragma scop
for (int i = 0; i < m; i++) h[i] += 1;
#pragma endscop
}"""))
    if witness:
        with pytest.raises(UsageError, match=f"that the program has not\n  witness: {witness}\n  hint: .* are m"):
            Schedule.from_text(text, dependences)
    else:
        assert "h[i] += 1" in emit(tile(Schedule.from_text(text, dependences))).text


@pytest.mark.parametrize("form", ["stored", "tree", "map", "pluto", "openscop", "cloog"])
def test_damaged_texts_are_refused_in_words_or_read(form: str) -> None:
    program = analyse(from_c_text("void f(int n, double C[n][n], double s[n]) {\n#pragma scop\n"
                                  "for (int i = 0; i < n; i++) { s[i] = 0; for (int j = 0; j < n; j++) s[i] += C[i][j];"
                                  " }\n#pragma endscop\n}"))
    pieces = re.findall(r"\w+|\s+|[^\w\s]", original(program).to_text(form))
    generator = random.Random(form)
    for _ in range(60):
        at = generator.randrange(len(pieces))
        other = generator.choice(["", "0", "99999999999999999999", "é", *"{}()[]:;,-\"\\", generator.choice(pieces)])
        behind = pieces[at + 1:] if generator.random() < 0.8 else []
        assert "isl_" not in refusal_of("".join([*pieces[:at], other, *behind]), program)


BIG = 10 ** 20


@pytest.mark.parametrize("text", [
    f"{{ S0[t, i] -> [t + {BIG}, 0, i]; S1[t, i] -> [t + {BIG}, 1, i] }}",
    f"T(S1): ({BIG}t + 3, 0, i)\nT(S2): ({BIG}t + 3, 1, i)",
    f"{{ S0[t, i] -> [t, {BIG}, {BIG}i + {BIG}]; S1[t, i] -> [t, {BIG + 7}, {BIG}i] }}"])
def test_dates_of_twenty_digits_are_dates_as_others(text: str) -> None:
    dependences = analyse(from_c_text(JACOBI))
    read = Schedule.from_text(text, dependences)
    assert order(read) == order(original(dependences))
    assert "0000000000" not in emit(tile(read)).text


def refusal_of(text: str, program: Dependences) -> str:
    try:
        Schedule.from_text(text, program)
    except PolyschedError as error:   # anything else is an error of ours
        return str(error)
    return ""


LONG = "9" * 5000
WIDE = ", ".join(f"i{k}" for k in range(6000))
BANDS = ", ".join(["{ S0[t, i] -> [(i)] }"] * 300)
QUOTIENTS = " and ".join(f"i mod {k} = 1" for k in range(2, 300))


@pytest.mark.parametrize(("text", "message"), [
    (f"[n] -> {{ S0[t, i] -> [{LONG}t, i] }}", "a number of the schedule has more than 40 digits"),
    (f"T(S1): (t, {LONG}i)", "a number of the schedule has more than 40 digits"),
    (f"S0.split(i, io, ii, {LONG})", "a number of the schedule has more than 40 digits"),
    (f"<OpenScop>\nC\nCONTEXT\n{LONG}\n", "a number of the schedule has more than 40 digits"),
    (f"c\n{LONG}\n", "a number of the schedule has more than 40 digits"),
    ("[" * 100_000, "no stored schedule\n  witness: values are nested too deeply"),
    ("{ S0[t, i] -> [" + "0, " * 300 + "t, i, 0]; S1[t, i] -> [t, i] }", "a tuple of more than 200 dimensions"),
    ("{ S0[t, i] -> [" + "0, " * 6000 + "t, i, 0]; S1[t, i] -> [t, i] }", "a tuple of more than 200 dimensions"),
    (f"[n] -> {{ S0[t, i] -> [t, i] : {QUOTIENTS} }}", "more than 100 quotients and quantified variables"),
    (f'{{ domain: "[n] -> {{ S0[t, i] : {QUOTIENTS} }}" }}', "more than 100 quotients and quantified variables"),
    (f'{{ domain: "{{ S0[{WIDE}] }}" }}', "a tuple of more than 200 dimensions"),
    (f'{{ domain: "[n] -> {{ S0[t, i] }}", child: {{ schedule: "[{BANDS}]" }} }}',
     "more than 200 members of bands are inside each other"),
    ('{ domain: "[t_end, n] -> { S0[t, i] : 0 <= t < t_end and 0 < i < n - 1; S1[t, i] : 0 <= t < t_end and '
     '0 < i < n - 1 }", child: { extension: "[n] -> { [] -> S9[i] : 0 <= i < n }" } }',
     r"cannot be read\n  witness: an extension adds instances that the program has not: .*S9\[i\]")])
def test_texts_of_no_program_are_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(PolyschedError, match=message):
        Schedule.from_text(text, analyse(from_c_text(JACOBI)))
