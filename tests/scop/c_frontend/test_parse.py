"""C that cannot be parsed: the compiler's message, or what is beyond standard C."""

import copy
import gc
import weakref

import pytest
from pycparser import c_ast, c_parser

from polysched.errors import SourceSyntaxError, UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.c_frontend.parse import copied, everything, keep_bodies
from polysched.scop.c_frontend.rewrites.counted_while import For

TREE = c_parser.CParser().parse("""struct s { int a, *b; };
typedef double real;
static real f(int n, struct s *p, real A[n][3]) {
  int i = 0, j, *q = &i;
  for (i = 0, j = 3; i < n; i++) { A[i][j] += (real)p->a * 2.0; if (i > 2) continue; else q--; }
  while (i--) ;
  do { switch (i) { case 1: break; default: i = sizeof(int); } } while (0);
  return A[0][1] ? f(n, p, A) : -1.0;
}""")


def in_recursion(node):
    return [node, *(below for _, child in node.children() for below in in_recursion(child))]


def test_everything_is_each_node_in_front_of_its_children() -> None:
    found = list(everything(TREE))
    assert [id(n) for n in found] == [id(n) for n in in_recursion(TREE)]
    assert list(everything(None)) == []


def test_a_node_that_is_changed_when_it_comes_is_walked_as_it_is_then() -> None:
    made = copied(TREE.ext[-1].body)
    kinds = []
    for node in everything(made):
        kinds.append(type(node))
        if isinstance(node, c_ast.For):
            node.stmt = c_ast.EmptyStatement()
    assert c_ast.Continue not in kinds
    assert c_ast.EmptyStatement in kinds


def test_a_copy_has_nodes_of_its_own() -> None:
    made, known = copied([TREE, TREE]), copy.deepcopy([TREE, TREE])
    assert made[0] is made[1]
    assert not {id(n) for n in everything(made[0])} & {id(n) for n in everything(TREE)}
    for one, other, given in zip(*map(everything, (made[0], known[0], TREE)), strict=True):
        assert type(one) is type(other)
        assert one.coord is given.coord
        for name in other.__slots__:
            if isinstance(value := getattr(other, name, None), str | int | None):
                assert getattr(one, name) == value
            elif isinstance(value, list) and value and isinstance(value[0], str):
                assert getattr(one, name) == value
                assert getattr(one, name) is not getattr(given, name)
    before = len(list(everything(TREE)))
    next(n for n in everything(made[0]) if isinstance(n, c_ast.Compound)).block_items.clear()
    assert len(list(everything(TREE))) == before
    assert copied(None) is None


def test_a_copy_stays_of_its_kind() -> None:
    loop = next(n for n in everything(TREE) if isinstance(n, c_ast.For))
    own = For(loop.init, loop.cond, loop.next, loop.stmt, loop.coord)
    own.found = ["here"]
    made = copied(own)
    assert type(made) is For
    assert made.found == ["here"]
    assert made.stmt is not own.stmt


def test_syntax_error_has_the_compilers_message():
    with pytest.raises(SourceSyntaxError) as caught:
        from_c_text("void f(int n, int A[n]) {\n#pragma scop\n for (int i = 0; i < n i++) A[i] = 0;\n"
                    "#pragma endscop\n}\n", path="given.c")
    assert caught.value.where.line == 3
    assert "expected ';'" in caught.value.problem
    assert "error:" in caught.value.witness


def test_beyond_standard_c_is_not_called_a_syntax_error():
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text('int g(int x) { asm goto ("nop" : : : : out); out: return x; }\n'
                    "void f(int n) {\n#pragma scop\n#pragma endscop\n}\n", path="given.c")
    assert caught.value.where.line == 1
    assert "beyond standard C" in caught.value.problem
    assert "__POLYSCHED_FRONTEND__" in caught.value.hint


def test_error_directive():
    with pytest.raises(SourceSyntaxError, match="wrong turn"):
        from_c_text("#error wrong turn\n", path="given.c")


def test_bodies_are_listed_once_and_by_class() -> None:
    tree = c_parser.CParser().parse("void f(int n) { int i; for (i = 0; i < n; i++) if (n) x[i] = y->n + 1; }")
    body = tree.ext[0].body
    plain = list(everything(body))
    goal = [n for n in plain if isinstance(n, c_ast.ID | c_ast.Decl)]
    assert sorted(map(id, everything(body, c_ast.ID, c_ast.Decl))) == sorted(map(id, goal))
    keep_bodies(tree)
    assert list(everything(body)) == plain
    assert sorted(map(id, everything(body, c_ast.ID, c_ast.Decl))) == sorted(map(id, goal))
    assert list(everything(body, c_ast.While)) == []
    body.block_items = []   # a promise is a promise
    assert list(everything(body)) == plain


def test_what_is_listed_goes_with_its_tree() -> None:
    tree = c_parser.CParser().parse("void f(int n) { while (n) n--; }")
    body = weakref.ref(tree.ext[0].body)
    keep_bodies(tree)
    assert sum(1 for _ in everything(body(), c_ast.While, c_ast.Compound)) == 2
    del tree
    gc.collect()
    assert body() is None
