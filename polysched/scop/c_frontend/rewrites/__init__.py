"""The syntax tree of a region brought into forms that the walk reads: plain functions on trees."""
