"""Make a failing program smaller for as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Guard, Loop, Node, Program, Reference, Statement, Term

ZERO = Affine()


def shrink(program: Program, fails: Callable[[Program], bool], *, most_tries: int = 300) -> Program:
    """A program that still fails and of which no smaller one that was tried does.

    Parameters
    ----------
    fails : whether a program shows the failure; the given one does.
    most_tries : calls of `fails`.
    """
    tries = 0
    smaller_found = True
    while smaller_found:
        smaller_found = False
        for candidate in smaller(program):
            tries += 1
            if tries > most_tries:
                return program
            if fails(candidate):
                program, smaller_found = candidate, True
                break
    return program


def smaller(program: Program) -> Iterator[Program]:
    """Programs that are one step smaller, the largest steps first."""
    for body in _smaller_body(program.body):
        if body:
            yield replace(program, body=body)


def _smaller_body(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    for position in range(len(nodes)):
        yield nodes[:position] + nodes[position + 1:]
    for position, node in enumerate(nodes):
        for instead in _without(node):
            yield nodes[:position] + instead + nodes[position + 1:]
    for position, node in enumerate(nodes):
        for simpler in _simpler(node):
            yield (*nodes[:position], simpler, *nodes[position + 1:])


def _without(node: Node) -> Iterator[tuple[Node, ...]]:
    """What is left of a node when its head goes."""
    match node:
        case Loop():
            yield tuple(_with_value(child, node.iterator, node.lower[0]) for child in node.body)
        case Guard():
            yield node.then
            if node.otherwise:
                yield node.otherwise
        case Statement():
            pass


def _simpler(node: Node) -> Iterator[Node]:
    match node:
        case Loop():
            yield from _simpler_loop(node)
            for body in _smaller_body(node.body):
                if body:
                    yield replace(node, body=body)
        case Guard():
            if node.otherwise:
                yield replace(node, otherwise=())
            if len(node.conditions) > 1:
                yield from (replace(node, conditions=(condition,)) for condition in node.conditions)
            for then in _smaller_body(node.then):
                if then:
                    yield replace(node, then=then)
            for otherwise in _smaller_body(node.otherwise):
                yield replace(node, otherwise=otherwise)
        case Statement():
            yield from _simpler_statement(node)


def _simpler_loop(loop: Loop) -> Iterator[Loop]:
    if len(loop.lower) > 1:
        yield from (replace(loop, lower=(bound,)) for bound in loop.lower)
    if len(loop.upper) > 1:
        yield from (replace(loop, upper=(bound,)) for bound in loop.upper)
    if loop.step > 1:
        yield replace(loop, step=1)
    if loop.downward:
        yield replace(loop, downward=False)
    if loop.lower != (ZERO,):
        yield replace(loop, lower=(ZERO,))
    if len(loop.upper) == 1 and len(loop.upper[0].terms) > 1:
        yield replace(loop, upper=(Affine((("n", 1),), -1),))


def _simpler_statement(statement: Statement) -> Iterator[Statement]:
    if statement.when is not None:
        yield replace(statement, when=None)
    if statement.choose:
        yield replace(statement, choose=False)
    if statement.clamp is not None:
        yield replace(statement, clamp=None)
        if statement.clamp.named:
            yield replace(statement, clamp=replace(statement.clamp, named=False))
    if statement.op != "=" and len(statement.terms) > 0:
        yield replace(statement, op="=")
    if len(statement.terms) > 1:
        for position in range(len(statement.terms)):
            rest = statement.terms[:position] + statement.terms[position + 1:]
            yield replace(statement, terms=(replace(rest[0], negative=False), *rest[1:]))
    for target in _simpler_reference(statement.target):
        yield replace(statement, target=target)
    for position, term in enumerate(statement.terms):
        for simpler in _simpler_term(term):
            yield replace(statement, terms=(*statement.terms[:position], simpler, *statement.terms[position + 1:]))


def _simpler_term(term: Term) -> Iterator[Term]:
    if term.factor != "1" and isinstance(term.of, Reference):
        yield replace(term, factor="1")
    if isinstance(term.of, Reference):
        yield from (replace(term, of=reference) for reference in _simpler_reference(term.of))
    if term.cast:
        yield replace(term, cast="")
    if term.by is not None:
        yield replace(term, by=None)
    if term.zeros != (0, 0):
        yield replace(term, zeros=(0, 0))
    if term.times is not None:
        yield replace(term, times=None)
        yield from (replace(term, times=reference) for reference in _simpler_reference(term.times))


def _simpler_reference(reference: Reference) -> Iterator[Reference]:
    for position, subscript in enumerate(reference.subscripts):
        for simpler in _simpler_affine(subscript):
            subscripts = (*reference.subscripts[:position], simpler, *reference.subscripts[position + 1:])
            yield Reference(reference.array, subscripts)


def _simpler_affine(affine: Affine) -> Iterator[Affine]:
    for position, (name, coefficient) in enumerate(affine.terms):
        yield Affine(affine.terms[:position] + affine.terms[position + 1:], affine.constant)
        if abs(coefficient) > 1:
            yield Affine((*affine.terms[:position], (name, 1), *affine.terms[position + 1:]), affine.constant)
    if affine.constant:
        yield replace(affine, constant=0)


def _with_value(node: Node, iterator: str, value: Affine) -> Node:
    """Replace an iterator by an affine value everywhere below."""
    def affine(old: Affine) -> Affine:
        return old.with_value(iterator, value)

    def reference(old: Reference) -> Reference:
        return Reference(old.array, tuple(affine(s) for s in old.subscripts))

    match node:
        case Loop():
            return replace(node, lower=tuple(map(affine, node.lower)), upper=tuple(map(affine, node.upper)),
                           body=tuple(_with_value(child, iterator, value) for child in node.body))
        case Guard():
            return replace(node, conditions=tuple((affine(a), modulus) for a, modulus in node.conditions),
                           then=tuple(_with_value(child, iterator, value) for child in node.then),
                           otherwise=tuple(_with_value(child, iterator, value) for child in node.otherwise))
        case Statement():
            terms = tuple(replace(t, of=reference(t.of) if isinstance(t.of, Reference) else
                                  affine(t.of) if isinstance(t.of, Affine) else None,
                                  times=None if t.times is None else reference(t.times),
                                  by=None if t.by is None else reference(t.by)) for t in node.terms)
            return replace(node, target=reference(node.target), terms=terms,
                           when=None if node.when is None else reference(node.when))
