"""C text of simulated caches: a hierarchy with sets beside one without, fed by the accesses of emitted loops.

Each level is write-back, allocates on writes and replaces what was used least recently.  What a level misses goes on to
the next one, and so do the dirty lines that it gives up; behind the loops all are given up, the nearest cache's first,
which is counted apart.  A cache of the same size without sets misses what no order of
placement could keep under this replacement; what the one with sets misses beyond that are conflict misses.

Source: M. D. Hill, A. J. Smith, "Evaluating Associativity in CPU Caches", IEEE Transactions on Computers 38(12), 1989
(the classes of misses).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.plain_c import c_condition, c_expression
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Scop, Statement
from polysched.target.target import CacheLevel

PREFIX = "polysched_trace"
"""How the calls begin that emitted loops make for their instances (`EmitOptions.trace`)."""

SIMULATOR = """\
#include <stdlib.h>
#include <string.h>
typedef struct { long line, used; int dirty; } way_t;
typedef struct { long sets, ways, misses, write_backs; way_t *way; } sets_t;
typedef struct { long capacity, held, misses, write_backs, newest, oldest, *newer, *older; char *in; } whole_t;
static sets_t by_sets[LEVELS];
static whole_t whole[LEVELS];
static long clock_now, accesses, outside, by_array[ARRAYS][LEVELS];

static void fetch(int level, long line, int write, int array) {
  if (level == LEVELS) return;
  sets_t *c = &by_sets[level];
  way_t *set = c->way + line % c->sets * c->ways, *victim = set;
  for (way_t *w = set; w < set + c->ways; w++) {
    if (w->line == line) { w->used = ++clock_now; w->dirty |= write; return; }
    if (w->used < victim->used) victim = w;
  }
  if (array >= 0) { c->misses++; by_array[array][level]++; }
  if (victim->dirty) { c->write_backs++; fetch(level + 1, victim->line, 1, -1); }
  if (array >= 0) fetch(level + 1, line, 0, array);
  victim->line = line; victim->dirty = write; victim->used = ++clock_now;
}

static void unlink_line(whole_t *c, long line) {
  long newer = c->newer[line], older = c->older[line];
  if (newer >= 0) c->older[newer] = older; else c->newest = older;
  if (older >= 0) c->newer[older] = newer; else c->oldest = newer;
}

static void fetch_whole(int level, long line, int write, int demanded) {
  if (level == LEVELS) return;
  whole_t *c = &whole[level];
  if (c->in[line]) {
    c->in[line] |= write << 1;
    if (c->newest == line) return;
    unlink_line(c, line);
  } else {
    c->misses += demanded;
    if (c->held == c->capacity) {
      long old = c->oldest;
      if (c->in[old] & 2) { c->write_backs++; fetch_whole(level + 1, old, 1, 0); }
      c->in[old] = 0;
      unlink_line(c, old);
    } else c->held++;
    if (demanded) fetch_whole(level + 1, line, 0, 1);
    c->in[line] = 1 | write << 1;
  }
  c->newer[line] = -1; c->older[line] = c->newest;
  if (c->newest >= 0) c->newer[c->newest] = line; else c->oldest = line;
  c->newest = line;
}

static void touch(long address, long bytes, int write, int array) {
  accesses++;
  if (address < 0 || address + bytes > TOTAL_BYTES) { outside++; return; }
  for (long line = address / LINE; line <= (address + bytes - 1) / LINE; line++) {
    fetch(0, line, write, array);
    fetch_whole(0, line, write, 1);
  }
}

static const long shapes[LEVELS][2] = SHAPES;
static int started(void) {
  long lines = TOTAL_BYTES / LINE + 1;
  for (int l = 0; l < LEVELS; l++) {
    by_sets[l].sets = shapes[l][0]; by_sets[l].ways = shapes[l][1];
    by_sets[l].way = malloc(shapes[l][0] * shapes[l][1] * sizeof(way_t));
    whole[l].capacity = shapes[l][0] * shapes[l][1]; whole[l].newest = whole[l].oldest = -1;
    whole[l].newer = malloc(lines * sizeof(long)); whole[l].older = malloc(lines * sizeof(long));
    whole[l].in = calloc(lines, 1);
    if (!by_sets[l].way || !whole[l].newer || !whole[l].older || !whole[l].in) return 0;
    for (long w = 0; w < shapes[l][0] * shapes[l][1]; w++) by_sets[l].way[w] = (way_t){ -1, 0, 0 };
  }
  return 1;
}

static void given_up(void) {
  for (int l = 0; l < LEVELS; l++) {
    for (way_t *w = by_sets[l].way; w < by_sets[l].way + by_sets[l].sets * by_sets[l].ways; w++)
      if (w->dirty) { w->dirty = 0; by_sets[l].write_backs++; fetch(l + 1, w->line, 1, -1); }
    for (long line = whole[l].newest; line >= 0; line = whole[l].older[line])
      if (whole[l].in[line] & 2) { whole[l].in[line] = 1; whole[l].write_backs++; fetch_whole(l + 1, line, 1, 0); }
  }
}

static void counted(long *out) {
  long *level = out + 2;
  *out++ = accesses; *out++ = outside;
  for (int l = 0; l < LEVELS; l++) {
    *out++ = by_sets[l].misses; *out++ = by_sets[l].write_backs;
    *out++ = whole[l].misses; *out++ = whole[l].write_backs;
    *out++ = 0; *out++ = 0;
    for (int a = 0; a < ARRAYS; a++) *out++ = by_array[a][l];
  }
  given_up();
  for (int l = 0; l < LEVELS; l++, level += 6 + ARRAYS) {
    level[4] = by_sets[l].write_backs - level[1];
    level[5] = whole[l].write_backs - level[3];
  }
}
"""


MACROS = ("LEVELS", "ARRAYS", "LINE", "TOTAL_BYTES", "SHAPES")
"""Names that the loops may have for themselves behind the simulator."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an array stands in the simulated memory.

    Parameters
    ----------
    begin : its first byte; arrays begin at multiples of a page, as large ones of an allocator do.
    strides : bytes from one element to the next, per dimension.
    """

    name: str
    number: int
    begin: int
    element_bytes: int
    strides: tuple[int, ...]


def simulator_text(caches: Sequence[CacheLevel], *, arrays: int, total_bytes: int) -> str:
    """The simulator of these caches.

    Parameters
    ----------
    caches : nearest first, all of one line; unknown ways are taken for as many as the cache has lines.
    """
    shapes = ", ".join(f"{{{sets}, {ways}}}" for sets, ways in map(shape_of, caches))
    return (f"#define LEVELS {len(caches)}\n#define ARRAYS {max(1, arrays)}\n#define LINE {caches[0].line_bytes}L\n"
            f"#define TOTAL_BYTES {total_bytes}L\n#define SHAPES {{{shapes}}}\n{SIMULATOR}"
            + "".join(f"#undef {name}\n" for name in MACROS))


def shape_of(cache: CacheLevel) -> tuple[int, int]:
    """Sets and ways."""
    lines = max(1, cache.size_bytes // cache.line_bytes)
    ways = min(cache.ways, lines) or lines
    return max(1, lines // ways), ways


def statement_text(scop: Scop, number: int, statement: Statement, sizes: Mapping[str, int],
                   places: Mapping[str, Place]) -> str:
    """What emitted loops call for an instance: a touch per access of an array, reads first.  Scalars are in registers.

    Raises
    ------
    UsageError : an access is not a function of the iterators.
    """
    names = [f"i{at}" for at in range(statement.domain.dim(isl.dim_type.set))]
    domain = fix_parameters(statement.domain, sizes)
    touches = [f"  {_touch(a, domain, sizes, places[a.array], names)}"
               for a in (*statement.reads, *statement.writes) if not scop.array(a.array).is_scalar]
    parameters = ", ".join(f"long {name}" for name in names) or "void"
    return "\n".join([f"static inline void {PREFIX}_{number}({parameters}) {{", *touches, "}", ""])


def _touch(access: Access, domain: isl.Set, sizes: Mapping[str, int], place: Place, names: Sequence[str]) -> str:
    """The call for one access, under a condition where not all instances make it."""
    relation = fix_parameters(access.relation, sizes).intersect_domain(domain)
    if relation.is_empty():
        return f"/* {access.reference} */"
    if not access.exact or not relation.is_single_valued():
        raise UsageError("the caches cannot be simulated: what an access reaches depends on data",
                         where=access.reference, witness=f"{access.array}: {access.relation}")
    always = domain.is_subset(relation.domain())
    relation = relation.move_dims(isl.dim_type.param, 0, isl.dim_type.in_, 0, len(names))
    for at, name in enumerate(names):
        relation = relation.set_dim_name(isl.dim_type.param, at, name)
    element = isl.PwMultiAff.from_set(relation.range())
    address = [f"{place.begin}L"]
    for at, stride in enumerate(place.strides):
        index = element.get_pw_aff(at)
        address.append(f"{stride}L * ({c_expression(index, index.domain())})")
    condition = "" if always else f"if ({c_condition(relation.range().params())}) "
    return f"{condition}touch({' + '.join(address)}, {place.element_bytes}, {int(access.is_write)}, {place.number});"
