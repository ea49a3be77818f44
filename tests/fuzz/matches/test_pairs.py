"""What is drawn: descriptions of every kind, programs in other words that compute the same, near misses that differ."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.fuzz.matches.attempt import Emission
from polysched.fuzz.matches.c_tree import (
    TYPES,
    Assign,
    Binary,
    Choice,
    Converted,
    Element,
    Expr,
    Function,
    Looked,
    Number,
    type_of,
    walk,
)
from polysched.fuzz.matches.harness import Version, compared
from polysched.fuzz.matches.loop_words import embedded, with_values
from polysched.fuzz.matches.near_misses import MISSES, missed
from polysched.fuzz.matches.pairs import (
    HEAD,
    NEAR_MISS,
    PROGRAMS_PER_UNIT,
    SAME,
    Pair,
    description_text,
    pair,
    program_text,
)
from polysched.fuzz.matches.units import FIRST_OF_MORE_KINDS, Unit, unit
from polysched.fuzz.matches.words import WORDS, keeps_tables
from polysched.target import find_compiler

IN_PLACE = ("expression", "scalar", "update spelled out", "sum split", "sum joined", "unrolled", "downward",
            "loop moved", "loops interchanged", "distributed", "local dropped", "local folded", "types respelled")
"""Rewrites after which the parameters are as before."""


def test_a_number_gives_one_pair_and_every_kind_is_drawn() -> None:
    pairs = [pair(seed) for seed in range(1600)]
    assert pair(123) == pairs[123]
    kinds = Counter(p.unit.kind for p in pairs)
    assert len(kinds) == 14
    assert min(kinds.values()) > 20, kinds
    assert 0.35 < sum(p.relation == SAME for p in pairs) / len(pairs) < 0.55
    assert {w for p in pairs for w in p.words} == set(WORDS)
    assert {p.miss for p in pairs} - {""} == set(MISSES)
    assert all(bool(p.miss) == (p.relation == NEAR_MISS) for p in pairs)


def test_descriptions_are_drawn_with_all_that_a_user_writes() -> None:
    texts = [unit(seed).function.text(region=False) for seed in range(400)]
    for written in ("int16_t t = 0", "sat_i16(", "fma_f32(", "T[", "2 * i + 1]", ">> 1", "0xFFFFFFFF", "2u", "3L",
                    ">= 0; k--", "X[i + k]", "(uint8_t)", "= bias["):
        assert any(written in text for text in texts), written
    used = {t for seed in range(400) for _, t in unit(seed).function.arrays}
    assert used == set(TYPES)


def of_units(count: int, wanted: Callable[[Unit], bool]) -> Iterator[int]:
    """The numbers of pairs whose description is of some kind; a pair takes ten times as long as a description."""
    return (seed for number in range(count // PROGRAMS_PER_UNIT) if wanted(unit(number))
            for seed in range(number * PROGRAMS_PER_UNIT, (number + 1) * PROGRAMS_PER_UNIT))


def test_what_is_saturated_is_converted_as_an_argument_is() -> None:
    """`sat_i16` of an unsigned sum sees a signed one."""
    seen = set()
    for own in map(pair, of_units(5000, lambda described: described.kind == "saturating")):
        if own.relation != SAME or own.words:
            continue
        for e in walk(own.programs[0].body):
            if isinstance(e, Choice) and isinstance(e.test, Binary) and e.test.right in (
                    Number("32767"), Number("2147483647")):
                kind = type_of(e.test.left, own.programs[0].types)
                seen.add(isinstance(e.test.left, Converted))
                assert kind.signed, own.programs[0].text()
                assert kind.bits <= (32 if e.test.right == Number("32767") else 64), own.programs[0].text()
    assert seen == {False, True}


def typed(functions: list[Function]) -> str:
    """A C program that prints the type of every expression of the functions, as gcc sees it."""
    cases = ", ".join(f"{t}: \"{t}\"" for t in TYPES)
    lines = [HEAD.replace("#include <math.h>", "#include <math.h>\n#include <stdio.h>"),
             "static int16_t sat_i16(int32_t x) { return x; }\nstatic int32_t sat_i32(int64_t x) { return x; }\n"
             "static float fma_f32(float a, float b, float c) { return a; }\n",
             f"#define TYPE(e) _Generic((e), {cases}, default: \"none\")\n"]
    for at, f in enumerate(functions):
        body = f.text(f"f{at}", region=False)
        places = [e for e in walk(f.body) if isinstance(e, Expr) and not (isinstance(e, Element) and not e.subscripts)]
        inner = "".join(f'    puts(TYPE({f.word(e)}));\n' for e in places)
        names = sorted({n for e in walk(f.body) if isinstance(e, Element) for s in e.subscripts for n in s.names()})
        variables = "".join(f"    int {n} = 0;\n" for n in names)
        types = f.types
        variables += "".join(f"    {t.name} {n};\n" for n, t in types.items() if n not in dict(f.arrays))
        lines.append(body[:body.index("{")] + "{\n" + variables + inner + "}\n")
    calls = "".join(f"    f{at}({', '.join('0' for _ in f.arrays)});\n" for at, f in enumerate(functions))
    return "".join([*lines, "int main(void)\n{\n", calls, "    return 0;\n}\n"])


def test_types_are_those_that_gcc_finds(tmp_path: Path) -> None:
    functions = [unit(seed).function for seed in range(120)]
    (tmp_path / "types.c").write_text(typed(functions))
    done = find_compiler().run(["-w", str(tmp_path / "types.c"), "-o", str(tmp_path / "types")])
    assert done.returncode == 0, done.stderr
    found = subprocess.run([str(tmp_path / "types")], capture_output=True, text=True, check=True).stdout.split()
    own = [type_of(e, f.types).name for f in functions for e in walk(f.body)
           if isinstance(e, Expr) and not (isinstance(e, Element) and not e.subscripts)]
    assert found == own


@pytest.mark.parametrize("word", IN_PLACE)
def test_a_rewrite_keeps_the_function(word: str, tmp_path: Path) -> None:
    versions = []
    for seed in range(300):
        source = random.Random(f"{word} {seed}")
        function, sizes = embedded(source, unit(seed))
        if any(t.is_float for t in function.types.values()) or "sat_" in function.text() or len(versions) == 25:
            continue
        if word == "sum joined":   # joins what is side by side
            function = WORDS["unrolled"][0](source, function) or function
        new = WORDS[word][0](source, function)
        if new is None or new == function or not keeps_tables(new):
            continue
        old, new = (with_values(f, sizes[0], symbolic=False) for f in (function, new))
        own = Pair(seed, unit(seed), SAME, (word,), "", (old, old))
        region = "\n".join(replace(new, name="f").lines(new.body, 1))
        versions.append(Version(own, 0, 0, Emission(mapping=word, preamble="", region=region)))
    assert len(versions) > 3
    found = compared(versions, tmp_path, find_compiler())
    assert set(found.values()) == {""}, found


def test_a_near_miss_changes_one_thing() -> None:
    changed = 0
    for seed in range(200):
        function, _ = embedded(random.Random(seed), unit(seed))
        new, _ = missed(random.Random(seed), function)
        changed += new.text() != function.text()
        assert keeps_tables(new)
        assert [n for n, _ in new.arrays] == [n for n, _ in function.arrays]
    assert changed == 200


def test_tables_are_read_inside() -> None:
    tables = [pair(seed) for seed in of_units(3000, lambda described: any(
        isinstance(e, Looked) for e in walk(described.function.body)))]
    assert len(tables) > 20
    assert all(keeps_tables(program) for p in tables for program in p.programs)


def test_a_description_is_a_users_file() -> None:
    own = unit(3)
    values: dict[str, object] = {}
    exec(compile(description_text(own), "unit.py", "exec"), values)
    assert own.function.text(region=False) in getattr(values["unit"], "semantics")  # noqa: B009


def test_numbers_and_assignments_are_values() -> None:
    assert Number("0xFFu").value == 255
    assert Number("0xFFu").suffix == "u"
    assert Assign(Element("t"), "=", Number("1")) == Assign(Element("t"), "=", Number("1"))


def test_what_descriptions_call_is_written_as_programs_have_it() -> None:
    """Extrema by a choice, counted bits by the compiler's function; arguments as parameters would get them."""
    texts = [program_text(p) for seed in range(8 * FIRST_OF_MORE_KINDS, 8 * (FIRST_OF_MORE_KINDS + 120))
             for p in pair(seed).programs[:1] if pair(seed).unit.kind == "calls"]
    assert texts
    assert any("__builtin_popcount(" in text for text in texts)
    assert any("abs(" in text for text in texts)
    assert not any(name in text for text in texts for name in ("popcount_u32", "min_i32", "max_u32"))
