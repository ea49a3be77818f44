"""What a glance tells of statements that can be no region."""

import pytest
from pycparser import c_parser

from polysched.scop.c_frontend.detection.certain_refusals import certain_refusal


def told(body: str) -> str:
    function = c_parser.CParser().parse(f"void f() {{ {body} }}").ext[0]
    refusal = certain_refusal("in.c", function.body.block_items, lambda name: name in ("printf", "large"))
    return "" if refusal is None else f"{refusal.problem}: {refusal.witness}"


@pytest.mark.parametrize(("body", "problem"), [
    ("for (;;) { x = 1; if (a) return; }", "`return` inside the region: return;"),
    ("for (;;) if (a) { goto out; }", "`goto` inside the region: goto out;"),
    ("for (;;) { x = 1; if (a) x = 2; else printf(\"%d\", a); }",
     "a call whose result is not used must have side effects: printf(\"%d\", a)"),
    ("do large(); while (a);", "a call whose result is not used must have side effects: large()"),
])
def test_what_nothing_can_be_made_of(body: str, problem: str) -> None:
    assert told(body) == problem


@pytest.mark.parametrize("body", [
    "for (;;) { x = large(); small(); (*p)(); }",
    "for (;;) x = a ? large() : printf(\"b\");",
    "for (;;) { memset(p, 0, n); break; }",
])
def test_what_may_be_read(body: str) -> None:
    assert told(body) == ""
