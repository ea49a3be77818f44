"""Described instructions, one file per instruction set; `polysched.tensorize.registry` lists them."""
