"""A schedule tree that runs every instance once, and trees that do not."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence.reordering.complete_trees import require_complete
from polysched.errors import UsageError

DOMAIN = "{ S[i] : 0 <= i < 9; R[i] : 0 <= i < 9 }"


def judged(tree: str) -> None:
    require_complete(isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, tree).get_root(), isl.UnionSet(DOMAIN))


def sequence(*filters: str) -> str:
    parts = ", ".join(f'{{ filter: "{each}" }}' for each in filters)
    return f'{{ domain: "{DOMAIN}", child: {{ sequence: [{parts}] }} }}'


def test_a_tree_that_runs_every_instance_once() -> None:
    judged(sequence("{ S[i] }", "{ R[i] : i < 3 }", "{ R[i] : i >= 3 }"))


@pytest.mark.parametrize(("tree", "problem", "instance"), [
    (sequence("{ S[i] }", "{ R[i] : i < 8 }"), "no child runs an instance", "R[8]"),
    (sequence("{ S[i] }", "{ R[i]; S[4] }"), "two children run the same instance", "S[4]"),
    ('{ domain: "{ S[i] : 0 <= i < 9 }" }', "the tree's domain lacks an instance", "R["),
])
def test_trees_that_do_not(tree: str, problem: str, instance: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        judged(tree)
    assert instance in str(refused.value.witness)
