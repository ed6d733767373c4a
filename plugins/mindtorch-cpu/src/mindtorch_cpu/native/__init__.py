"""Compiled kernels: programs of element-wise operations, from tracing to running them."""
