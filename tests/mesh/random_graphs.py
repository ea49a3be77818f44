"""Random graphs of operators, for tests."""

import random

from polysched.mesh import Message, Operator, OperatorGraph


def random_graph(seed: int, count: int, *, single: bool = False) -> OperatorGraph:
    """Operators, each of which hears from one or two earlier ones.

    single : every operator takes one core.
    """
    draw = random.Random(seed)
    operators = tuple(Operator(name=f"o{n}", work=draw.randint(1, 9) * 1e6, weights=draw.randint(0, 50_000),
                               extents=(1, 1) if single else (draw.choice([1, 8, 33]), draw.choice([1, 7, 48])),
                               result=draw.randint(1, 40_000)) for n in range(count))
    messages = tuple(Message(source=f"o{s}", sink=f"o{n}", bytes=draw.randint(0, 40_000),
                             cut=draw.choice(["cells", "rows", "columns"]))
                     for n in range(1, count) for s in sorted({draw.randrange(max(0, n - 5), n) for _ in range(2)}))
    return OperatorGraph(name=f"random{seed}", operators=operators, messages=messages)
