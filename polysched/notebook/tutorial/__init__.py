"""Exercises with checked answers: `check(answer, question)` says right, or wrong with a hint.

A question holds the program that it is about, and its answer is judged by isl, by an exact analysis or by running
something; no question stores its answer.
"""

from polysched.notebook.tutorial.answers import Question, Verdict, check
from polysched.notebook.tutorial.instructions import ExecutionsOf, InstructionFor, ProgramFor, imaginary
from polysched.notebook.tutorial.orders import BrokenPair, IllegalOrder, IsLegal, LeastSkew, OrderThat, StepsBefore
from polysched.notebook.tutorial.pairs import AccessIs, DistancesOf, KindsOf, LoopsThat, PairOf, RelationIs
from polysched.notebook.tutorial.programs import ParallelProgram, ReductionsOf
from polysched.notebook.tutorial.sets import CountOf, DomainOf, FormulaOf
from polysched.notebook.tutorial.tiles import FewerMisses, FootprintOf, LargestCube, simulated

__all__ = ["AccessIs", "BrokenPair", "CountOf", "DistancesOf", "DomainOf", "ExecutionsOf", "FewerMisses", "FootprintOf",
           "FormulaOf", "IllegalOrder", "InstructionFor", "IsLegal", "KindsOf", "LargestCube", "LeastSkew", "LoopsThat",
           "OrderThat", "PairOf", "ParallelProgram", "ProgramFor", "Question", "ReductionsOf", "RelationIs",
           "StepsBefore", "Verdict", "check", "imaginary", "simulated"]
