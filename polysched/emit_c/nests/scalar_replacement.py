"""Scalar replacement in plain loops: an element that an innermost loop updates again and again lives in a variable.

Rewrite:  for k: s[i] = s[i] + a[k]  ->  double held = s[i];  for k: held = held + a[k];  s[i] = held

This is a register tile without edges: the same proof that nothing else touches the element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import Facts, map_inside
from polysched.emit_c.loop_ir.loops import Block, For, Node, RegisterTile
from polysched.emit_c.loop_ir.traversal import straight

Promotes = Callable[[RegisterTile, Facts], bool]


def hold_elements(node: Node, facts: Facts, promotes: Promotes) -> Node:
    """Turn innermost loops that update an element of their surroundings into register tiles.

    Parameters
    ----------
    promotes : whether a tile holds some written element in a register around all its loops.
    """
    if isinstance(node, For):
        return _loop(node, facts, promotes)
    return map_inside(node, facts, lambda child, inside: hold_elements(child, inside, promotes))


def _loop(loop: For, facts: Facts, promotes: Promotes) -> Node:
    inner = hold_elements(loop.body, facts.inside(loop), promotes)
    if loop.mark.simd or loop.mark.parallel or loop.guard is not None:
        return replace(loop, body=inner)
    if isinstance(inner, RegisterTile) and not inner.edges:
        larger = replace(inner, loops=(replace(loop, body=Block(())), *inner.loops))
        return larger if promotes(larger, facts) else replace(loop, body=inner)
    if (plain := straight(inner)) is not None:
        tile = RegisterTile(loops=(replace(loop, body=Block(())),), edges=(), body=plain[0], private=plain[1])
        return tile if promotes(tile, facts) else replace(loop, body=inner)
    return replace(loop, body=inner)
