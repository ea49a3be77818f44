"""What the Python and the tensor-expression front ends share: typed values and the making of a Scop from loops.

`promotion` has NumPy's type rules, `values` typed values with an optional affine form, `region` the
loops, guards and statements that become a Scop.
"""
