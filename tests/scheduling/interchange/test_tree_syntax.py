"""Texts of schedule trees are checked before isl reads them."""

import pytest

from polysched.errors import UsageError
from polysched.scheduling.interchange.isl_text import read_tree
from polysched.scheduling.interchange.tree_syntax import MOST_NESTED, fault_of_syntax

TREE = ('{ domain: "{ S[i, j] : 0 <= i, j < 9 }", child: { schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", '
        'permutable: 1, coincident: [ 1, 0 ], child: { sequence: [ { filter: "{ S[i, j] }" } ] } } }')
LINES = """domain: "{ S[i] : 0 <= i < 9 }"
child:
  mark: "m"
  child:
    sequence:
    - filter: "{ S[i] : i < 4 }"
      child:
        schedule: "[{ S[i] -> [(i)] }]"
    - filter: "{ S[i] : i >= 4 }"
"""


@pytest.mark.parametrize("text", [TREE, LINES, '{ "domain" : "{ S[] }" }'])
def test_what_isl_reads_is_right(text: str) -> None:
    assert not fault_of_syntax(text)
    assert read_tree(text).get_domain().n_set() == 1
    assert not fault_of_syntax(str(read_tree(text)))
    assert not fault_of_syntax(read_tree(text).to_str())


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("coincident:", "0:", "`0` is no part of a schedule tree"),   # isl crashes on it
    ("permutable: 1", "permutable: x", "`permutable` has a number, not `x`"),
    ("[ 1, 0 ]", "[ 1 0 ]", "in the list of `coincident`, and there is `0`"),
    ("[ 1, 0 ]", "1", "`[` was expected behind `coincident`"),
    ("permutable: 1", 'schedule: "[]"', "a node has `schedule` twice"),
    ('filter: "{ S[i, j] }"', "filter: S", "`filter` has a text in quotes, not `S`"),
    (" } } }", " } } } }", "`}` stands behind the tree"),
    (" } } }", " } }", "the text ends before the tree"),
    ('child: { seq', 'child: seq', "`{` was expected"),
])
def test_faults_of_the_form_in_braces(old: str, new: str, fault: str) -> None:
    assert old in TREE
    assert fault in fault_of_syntax(TREE.replace(old, new, 1))
    with pytest.raises(UsageError, match="cannot be read"):
        read_tree(TREE.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new", "fault"), [
    ('  mark: "m"', "  mark: m", "`mark` has a text in quotes, not `m`"), ("  child:\n", "  0:\n", "`0` is no part"),
    ('  mark: "m"', '  mark: "m"\n  mark: "m"', "has `mark` twice"), ("    sequence:", "    sequence: 3", "not `3`"),
    ('  mark: "m"', "  mark", "is no key with a value"),
])
def test_faults_of_lines(old: str, new: str, fault: str) -> None:
    assert old in LINES
    assert fault in fault_of_syntax(LINES.replace(old, new, 1))


def test_depth() -> None:
    assert "inside each other" in fault_of_syntax("{ child: " * (MOST_NESTED + 1))
