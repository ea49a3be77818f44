"""Search: one space for recipes by hand, templates and rules; proved candidates, raced; a database that replays.

    found = polysched.tune("gemm.c", sizes={"n": 512}, budget=Budget(trials=64), database="tuned.db")
    polysched.optimize("gemm.c", PipelineOptions(database="tuned.db"))
"""

from polysched.measure.timing.race import Gain
from polysched.pipeline.recipe import Recipe
from polysched.search.automatic import automatic
from polysched.search.chooser import Chooser
from polysched.search.database import Database, DatabaseError
from polysched.search.lookup import optimize, source_to_source, transform_file
from polysched.search.packages.machines import TunedMachines, tune_machines
from polysched.search.rewriting.tuned_terms import TunedExpression, tune_expression
from polysched.search.several import TunedAll, Weighted, tune_all
from polysched.search.sizes import TunedRange, tune, tune_range
from polysched.search.strategies import STRATEGIES
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget
from polysched.search.variants import Variants, choose_variants

__all__ = ["STRATEGIES", "Budget", "Chooser", "Database", "DatabaseError", "Gain", "Recipe", "Trial", "Tuned",
           "TunedAll", "TunedExpression", "TunedMachines", "TunedRange", "Variants", "Weighted", "automatic",
           "choose_variants", "optimize", "source_to_source", "transform_file", "tune", "tune_all", "tune_expression",
           "tune_machines", "tune_range"]
