"""The signature of the function around a region."""


from polysched.scop import from_c_text
from polysched.scop.signature import ParameterKind


def test_signature():
    scop = from_c_text("typedef float real;\nstruct s { int a; };\nstatic int f(int n, real alpha, "
                       "double A[restrict 5][n], const int *k, struct s *t) {\n"
                       "#pragma scop\nA[0][0] = k[0];\n#pragma endscop\nreturn 0;\n}\n")
    signature = scop.source.signature
    assert (signature.name, signature.static, signature.return_type) == ("f", True, "int")
    kinds = [(p.name, p.kind, p.c_extents) for p in signature.parameters]
    assert kinds == [("n", ParameterKind.INTEGER, ()), ("alpha", ParameterKind.FLOATING, ()),
                     ("A", ParameterKind.ARRAY, ("5", "n")), ("k", ParameterKind.ARRAY, (None,)),
                     ("t", ParameterKind.OTHER, ())]
    assert signature.parameters[2].restrict
    assert signature.parameters[3].constant
    assert signature.parameters[1].dtype.name == "float32"
