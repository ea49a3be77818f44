"""For notebooks: two loop nests side by side, and an explorer of schedules with sliders.

Needs nothing but the package; the explorer's widgets need the extra `polysched[notebook]`.
"""

from polysched.notebook.comparison import Comparison, compare
from polysched.notebook.exploration import Exploration
from polysched.notebook.explorer import Explorer, explore

__all__ = ["Comparison", "Exploration", "Explorer", "compare", "explore"]
