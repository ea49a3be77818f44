"""Branches in other words compute what the choice does; near misses of theirs are drawn."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from polysched.fuzz.matches import branch_words, near_misses, words
from polysched.fuzz.matches.c_tree import Branch, Function, walk
from polysched.fuzz.matches.loop_words import embedded, with_values
from polysched.fuzz.matches.pairs import HEAD
from polysched.fuzz.matches.units import BRANCHES, FIRST_OF_BRANCHES, unit
from polysched.fuzz.matches.words import Word
from polysched.measure.processes.execution import run_program
from polysched.target import find_compiler

OWN: tuple[Word, ...] = (branch_words.branched, branch_words.branched, branch_words.joined, branch_words.negated,
                         branch_words.nested, branch_words.overwritten)
MAIN = """
#include <stdio.h>
#include <string.h>
static unsigned state = 5;
static void fill(void *to, int bytes, int kind)
{
    for (int at = 0; at < bytes; at++) {
        state = state * 1664525u + 1013904223u;
        double d = (double[]){0, -0.0, 1, -1, 0. / 0, 1. / 0, 2.5, -7}[state >> 29];
        float f = d;
        if (kind == 8 && at % 8 == 0) memcpy((char *)to + at, &d, 8);
        if (kind == 4 && at % 4 == 0) memcpy((char *)to + at, &f, 4);
        char end = (char[]){0, 1, -1, 127, -128, 3, 3, 3}[state >> 29];
        if (kind == 0) ((char *)to)[at] = (state >> 20 & 3) ? end : (char)(state >> 24);
    }
}
"""


def programs() -> list[tuple[Function, Function, tuple[str, ...]]]:
    """Programs as they are described, and with branches in other words."""
    found = []
    for seed in range(FIRST_OF_BRANCHES, FIRST_OF_BRANCHES + 300):
        own = unit(seed)
        if own.kind != BRANCHES:
            continue
        source = random.Random(seed)
        function, sizes = embedded(source, own)
        before = function = with_values(function, sizes[0], symbolic=False)
        done = []
        for word in OWN:
            new = word(source, function)
            if new is not None and new != function:
                function = new
                done.append(word.__name__)
        if done:
            found.append((before, function, tuple(done)))
    return found


def test_every_word_keeps_every_bit(tmp_path: Path) -> None:
    """Executed on integers at their ends, on floats of both zeros, infinities and NaN."""
    texts, calls, all_done = [], [], Counter[str]()
    for at, (before, after, done) in enumerate(programs()):
        all_done.update(done)
        texts += [f.text(f"{name}{at}", region=False) for name, f in (("a", before), ("b", after))]
        lines = []
        for n, (array, ctype) in enumerate(before.arrays):
            bytes_ = f"sizeof({ctype})" + "".join(f" * {e}" for e in before.extents(array))
            kind = {"float": 4, "double": 8}.get(ctype, 0)
            lines.append(f"static _Alignas(64) char x{n}[{bytes_}], y{n}[{bytes_}]; fill(x{n}, sizeof x{n}, {kind}); "
                         f"memcpy(y{n}, x{n}, sizeof x{n});")
        names = {a: n for n, (a, _) in enumerate(before.arrays)}
        lines += [f"{name}{at}({', '.join(f'(void *){to}{names[a]}' for a, _ in f.arrays)});"
                  for name, f, to in (("a", before, "x"), ("b", after, "y"))]
        wrong = " || ".join(f"memcmp(x{n}, y{n}, sizeof x{n})" for n in names.values())
        calls.append("{ " + " ".join(lines) + f' if ({wrong}) printf("{at} "); }}')
    source = tmp_path / "all.c"
    source.write_text(HEAD.replace("int __builtin_popcount(unsigned);\n", "") + MAIN + "\n".join(texts)
                      + "\nint main(void)\n{\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    compiler = find_compiler()
    built = compiler.run(["-O0", "-fwrapv", "-w", str(source), "-o", str(tmp_path / "all"), "-lm"], folder=tmp_path)
    assert built.returncode == 0, built.stderr

    ran = run_program([tmp_path / "all"], seconds=20, folder=tmp_path)
    assert (ran.status, ran.output.strip()) == (0, "")
    assert set(all_done) == {w.__name__ for w in OWN}


def test_later_pairs_have_branches_and_their_near_misses() -> None:
    counted: Counter[str] = Counter()
    for seed in range(FIRST_OF_BRANCHES, FIRST_OF_BRANCHES + 200):
        own, source = unit(seed), random.Random(seed)
        if own.kind != BRANCHES:
            assert not [n for n in walk(own.function.body) if isinstance(n, Branch)]
            continue
        function, done = words.reworded(source, embedded(source, own)[0], 4, words.OF_BRANCHES)
        counted.update(done)
        _, miss = near_misses.missed(source, function, near_misses.OF_BRANCHES)
        counted[miss] += 1
    assert all(counted[name] for name in ("branched", "branches joined", "side of a branch"))
