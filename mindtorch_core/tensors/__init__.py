"""Tensors: the class, the memory behind it, its place in a graph."""
