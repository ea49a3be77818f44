"""Random described instructions, and programs that are or are not the same function in other words."""
