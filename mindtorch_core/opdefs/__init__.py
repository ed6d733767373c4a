"""Defining ops: what follows from one row, and the rules that rows share."""
