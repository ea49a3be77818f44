"""C files that are made as a whole: over ranks, or so that they can be stopped behind every tile."""
