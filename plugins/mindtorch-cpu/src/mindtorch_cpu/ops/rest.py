"""Kernels of the ops that the core defines on demand. Importing this module registers them."""
