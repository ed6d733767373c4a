"""Ops on lists of tensors: one element-wise op for each element, and steps of optimizers."""
