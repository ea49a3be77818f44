"""Regions over ranks: loops of steps, a rank's part of each, and the messages between them, as C with MPI."""
