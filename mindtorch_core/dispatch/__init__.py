"""Dispatch: keys, registry, tables of computed kernels, call paths, the pipeline."""
