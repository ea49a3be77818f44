"""Functions described by C of several statements, and the loops of a program that compute them."""
