"""Names that are not taken, in regions neither."""

from polysched.graph import from_text
from polysched.graph.passes.names import fresh_names


def test_they_differ_from_all_names_of_the_graph() -> None:
    fresh = fresh_names(from_text("""graph f(c_0: float32[1]) {
      let a = If(c_0) {
        graph yes() {
          let c_1 = Exp(c_0)
          return c_1
        }
      }
      return a
    }"""))
    assert [fresh("c"), fresh("c"), fresh("d")] == ["c_2", "c_3", "d_0"]
