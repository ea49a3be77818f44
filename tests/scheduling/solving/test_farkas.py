"""The affine form of Farkas' lemma: forms that are not negative on a dependence."""


import islpy as isl

from polysched.scheduling.solving.farkas import cones, without_divs


def test_cones_are_the_non_negative_forms() -> None:
    """On {(i, j): 0 <= i < N, j = i + 1}: j - i - 1 is zero, N - j is not negative, i - j is negative."""
    relation = isl.Map("[N] -> { S[i] -> T[j] : 0 <= i < N and j = i + 1 }")
    (cone,) = cones(relation, isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=["N"]))

    def holds(constant: int, parameter: int, source: int, sink: int) -> bool:
        values = [r.constant * constant + r.parameters[0] * parameter + r.source[0] * source + r.sink[0] * sink
                  for r in cone]
        return all(v == 0 if r.equal else v >= 0 for v, r in zip(values, cone, strict=True))

    assert holds(-1, 0, -1, 1)
    assert holds(1, 0, 1, -1)
    assert holds(0, 1, 0, -1)
    assert holds(-1, 1, -1, 0)
    assert not holds(0, 0, 1, -1)
    assert not holds(-2, 0, -1, 1)


def test_equations_between_multiples_stay_when_divs_go() -> None:
    """Of multiples of 64, those from j to j + 63 are j alone."""
    relation = isl.Map("[N] -> { S[j] -> T[k] : j mod 64 = 0 and k mod 64 = 0 and j <= k <= j + 63 and 0 <= j < N }")
    apart = isl.Map("{ S[j] -> T[k] : k != j }")
    assert not relation.remove_divs().is_disjoint(apart)
    assert without_divs(relation).is_disjoint(apart)
    assert relation.is_subset(without_divs(relation))
