"""Ops whose result shares its first argument's memory, and their copies."""
