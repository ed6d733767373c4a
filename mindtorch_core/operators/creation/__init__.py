"""Tensors from nothing, copies and conversions, other sizes."""
