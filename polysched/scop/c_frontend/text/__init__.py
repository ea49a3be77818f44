"""A file as text: preprocessed, without what is no standard C, its regions and pragmas found."""
