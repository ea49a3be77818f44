"""Units that no machine has, as files that describe them."""

DESCRIBED = """from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
REGISTER = Register(c_type="void *", load="load({{register}}, {{pointer}});", store="store({{pointer}}, {{register}});")
UNIT = Intrinsic(
    name="unit", section="imagined", cost=Cost(issue_cycles=1, latency_cycles=2), template="-",
    isa=Isa(name="imagined", machine="none", manual="none"), semantics="void unit({parameters}) {{ {body} }}",
    operands=tuple(Operand(name=name, register=REGISTER) for name in "{names}"))
"""
