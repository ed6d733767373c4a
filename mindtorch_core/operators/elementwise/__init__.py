"""Ops that treat every element alone: arithmetic, comparisons, functions, choices."""
