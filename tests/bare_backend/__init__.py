"""A device that has the primitives and nothing else: proof that they are enough.

Its memory is a NumPy array of bytes per storage. What is neither a primitive nor made of primitives is
left to the CPU (`mindtorch_core.library.cpu_fallback`).
"""
