"""What is wrong with a text in isl's notation is said in words, never by a line of isl's source."""

import pytest

from polysched.errors import UsageError
from polysched.scheduling.interchange.isl_text import is_tree, read_map, read_tree


@pytest.mark.parametrize(("text", "witness"), [
    ("{ S0[i] -> [i }", r"`}` at character 15, behind `{ S0\[i\] -> \[i`, closes nothing that is open there"),
    ("{ S0[i] -> [i]", r"`{` at character 1 is never closed"),
    ("{ S0[i] -> [i]; S1[i] -> [i * i] }", r"`S1\[i\] -> \[i \* i\]` is no affine relation"),
    ("[n -> { S0[i] -> [i] }", "`}` at character|`\\[` at character 1 is never closed"),
    ("[n, 3] { S0[i] -> [i] }", "is no (list of parameters|affine relation)"),
])
def test_faults_of_maps(text: str, witness: str) -> None:
    with pytest.raises(UsageError, match=witness) as refused:
        read_map(text)
    assert "isl_stream" not in str(refused.value)


@pytest.mark.parametrize(("text", "witness"), [
    ('{ domain: "{ S0[i] : 0 <= i < q }" }', r'the domain "{ S0\[i\] : 0 <= i < q }" is not a set of instances'),
    ('{ domain: "{ S0[i] }", childs: { } }', "`childs` is no part of a schedule tree"),
    ('{ domain: "{ S0[i] }", child: { schedule: "[{ S0[i] -> [(i * i)] }]" } }', "the schedule .* is not a tuple"),
    ('{ domain: "{ S0[i] }", permutable: 1 }', "not put together as a tree"),
])
def test_faults_of_trees(text: str, witness: str) -> None:
    assert is_tree(text)
    with pytest.raises(UsageError, match=witness) as refused:
        read_tree(text)
    assert "isl_stream" not in str(refused.value)


def test_right_texts_are_read() -> None:
    assert not is_tree("[n] -> { S0[i] -> [i] }")
    assert read_map("[n] -> { S0[i] -> [i] }").n_map() == 1
    assert read_tree('{ domain: "{ S0[i] : 0 <= i < 4 }" }').get_domain().n_set() == 1
