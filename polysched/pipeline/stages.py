"""One function per stage, for whoever wants to call them one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from polysched.dependence import analyse
from polysched.dependence.collapsing import collapse_rows
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import Expansion, expand_temporaries
from polysched.dependence.idle_statements import without_idle_statements
from polysched.dependence.if_conversion import with_chosen_operands
from polysched.dependence.reordering.turned_reductions import in_any_order
from polysched.dependence.substitution import substitute_temporaries
from polysched.pipeline.kept_stages import kept
from polysched.pipeline.options import BEST, PipelineOptions
from polysched.pipeline.search_choices import with_chosen_schedule
from polysched.records import whole
from polysched.scheduling import ALGORITHMS, by_strategy, steps
from polysched.scheduling.schedule import Schedule
from polysched.scop.scop import Scop
from polysched.tensorize.preparing.canonical import canonical_form
from polysched.tensorize.preparing.from_zero import with_loops_from_zero
from polysched.tensorize.preparing.narrowing import narrow_sums
from polysched.tensorize.preparing.written_out import in_loops_of_their_own


def analysed(scop: Scop, *, expand: bool = True, value_based: bool = True, inputs: bool = False,
             reductions: Literal["keep", "exact", "reassociate"] = "keep", vector_bytes: int = 0,
             row_loss: Callable[[int], float] | None = None,
             but: frozenset[str] = frozenset(), for_instructions: bool = False,
             values: Callable[[Dependences], Dependences] | None = None,
             known: Dependences | None = None, turn: bool = False, rolled: bool = False) -> Expansion:
    """The dependences that every command schedules by: of the program with expanded temporaries, if it has any.

    The options are those of `analyse`; memory-based dependences say too little to expand anything.

    Parameters
    ----------
    vector_bytes : loops over rows that end within a vector of so many bytes are collapsed first; 0 for none.
    row_loss : as for `collapse_rows`.
    but : temporaries to leave as they are.
    for_instructions : scalars are replaced by their values, so that a body is one statement, sums are no wider than
        their values, and loops stay loops.
    values : replaces scalars by their values before anything is expanded.
    known : as for `analyse`; `Expansion.given` of this program with other options.
    turn : exact reductions whose rows lie apart may run in any order (`turned_reductions`).
    rolled : sums that are written out are loops of their own, and loops start at zero; for instructions of several
        stages.

    Raises
    ------
    BudgetExceededError : the dependences need more isl operations than there are.
    """
    return kept(
        lambda: _analysed(scop, expand=expand, value_based=value_based, inputs=inputs, reductions=reductions,
                          vector_bytes=vector_bytes, row_loss=row_loss, but=but, for_instructions=for_instructions,
                          values=values, known=known, turn=turn, rolled=rolled),
        scop, "analysed", expand, value_based, inputs, reductions, vector_bytes, but, for_instructions, values, turn,
        rolled)


def _analysed(scop: Scop, *, expand: bool, value_based: bool, inputs: bool,
              reductions: Literal["keep", "exact", "reassociate"], vector_bytes: int,
              row_loss: Callable[[int], float] | None, but: frozenset[str], for_instructions: bool,
              values: Callable[[Dependences], Dependences] | None, known: Dependences | None,
              turn: bool, rolled: bool) -> Expansion:
    """As `analysed`, made anew."""
    plain = not inputs and reductions == "keep"
    if not expand or not value_based:
        return Expansion(dependences=analyse(scop, value_based=value_based, inputs=inputs, reductions=reductions))
    dependences = given = analyse(with_chosen_operands(without_idle_statements(scop)), known=known)
    if for_instructions:
        dependences = with_loops_from_zero(in_loops_of_their_own(dependences)) if rolled else dependences
        dependences = canonical_form(narrow_sums(substitute_temporaries(dependences)))
    elif values is not None:
        dependences = values(dependences)
    dependences, collapsed = collapse_rows(dependences, vector_bytes, row_loss)
    if plain and turn and not collapsed and (free := in_any_order(dependences.scop)) is not None:
        dependences, reductions, plain = analyse(free), "exact", False
    expansion = replace(expand_temporaries(dependences, but=but, write_out=not for_instructions), collapsed=collapsed,
                        given=given)
    return expansion if plain else replace(expansion, dependences=analyse(
        expansion.dependences.scop, inputs=inputs, reductions=reductions))


def scheduled(dependences: Dependences, options: PipelineOptions, *, input_dependences: bool = False,
              parameters: Mapping[str, int] | None = None) -> Schedule:
    """The schedule by the strategy or the scheduler of the options, and the steps by hand on it.

    `best` tiles its candidates to compare them.

    Parameters
    ----------
    input_dependences : keep reads of one element close together, too; they must have been analysed.
    parameters : values that the model of `best` assumes for parameters.

    Raises
    ------
    PolyschedError : the scheduler refuses.
    """
    wanted = replace(options.scheduler_options(), input_dependences=input_dependences)
    if options.strategy is not None:
        strategy = options.strategy
        return kept(lambda: steps.apply(by_strategy(dependences, strategy, options=wanted), *options.steps,
                                        reassociate=options.reassociate),
                    dependences, "scheduled", whole(strategy), wanted, options.steps, options.reassociate)
    if options.scheduler == BEST:
        tiling = replace(options.tiling_options(), parameters=parameters or {})
        return with_chosen_schedule(dependences, wanted, tiling).schedule
    return kept(lambda: steps.apply(ALGORITHMS[options.scheduler](dependences, options=wanted), *options.steps,
                                    reassociate=options.reassociate),
                dependences, "scheduled", options.scheduler, wanted, options.steps, options.reassociate)
