"""What descriptions share, whatever the machine: registers that repeat one group, texts that repeat one assignment."""

from polysched.tensorize.description.intrinsic import Register


def repeated_group(c_type: str, broadcast: str, word: str, *, count: int = 32) -> Register:
    """As many elements as fill a word.

    They lie in memory as objects of their own type and are aligned as such: were the word read as any other,
    C would let compilers move the read ahead of stores of the elements (C11 6.5p7).

    Parameters
    ----------
    c_type : of the register.
    broadcast : C that takes the word `{}` to every lane.
    word : the C type of the word.
    """
    group = f"typedef {word} ps_group __attribute__((may_alias, aligned(1)));"
    filled = broadcast.format("*(const ps_group *)({pointer})")
    return Register(c_type=c_type, count=count, load=f"{{ {group} {{register}} = {filled}; }}")


def each(lanes: int, value: str) -> str:
    """The loop that assigns a value to every element of O."""
    return f"for (int i = 0; i < {lanes}; i++)\n        O[i] = {value};"
