"""CP-SAT without pandas: the same answers, and the module of everyone else as it was."""

import subprocess
import sys

from polysched.scheduling.solving.cp_sat import cp_sat, new_model

SOLVE = """
import sys
from polysched.scheduling.solving.cp_sat import cp_sat, new_model
sat = cp_sat()
model = new_model()
x, y = model.new_int_var(0, 9, "x"), model.new_int_var(0, 9, "y")
model.add(2 * x + 3 * y >= 17)
model.minimize(x + y)
solver = sat.CpSolver()
print(solver.solve(model) == sat.OPTIMAL, solver.objective_value, "pandas" in sys.modules)
"""


def _printed(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout


def test_solves_without_pandas():
    assert _printed(SOLVE) == "True 6.0 False\n"


def test_scheduling_and_tiling_load_no_pandas():
    assert _printed("""
import sys
from polysched.scop import from_c_text
from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.tiling import tile
text = "void f(int n, double A[n][n]) {\\n#pragma scop\\nfor (int i = 1; i < n; i++)" \\
       " for (int j = 1; j < n; j++) A[i][j] = A[i-1][j] + A[i][j-1];\\n#pragma endscop\\n}"
tile(pluto(analyse(from_c_text(text))))
print("pandas" in sys.modules)""") == "False\n"


def test_the_users_module_stays_whole():
    assert _printed(SOLVE + """
from ortools.sat.python import cp_model
print(cp_model is sat, cp_model.pd.Series([1, 2]).sum())
""") == "True 6.0 False\nFalse 3\n"


def test_a_module_that_is_loaded_is_taken():
    assert _printed("from ortools.sat.python import cp_model\n" + SOLVE + "print(sat is cp_model)").endswith("True\n")


def test_one_module_for_all():
    assert cp_sat() is cp_sat()


def test_a_model_of_ours_is_one_of_theirs_without_second_names():
    model = new_model()
    assert isinstance(model, cp_sat().CpModel)
    assert "NewIntVar" not in vars(model)
