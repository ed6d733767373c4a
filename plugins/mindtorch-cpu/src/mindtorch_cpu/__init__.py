"""CPU backend of mindtorch, on NumPy. Loaded through its entry point, `mindtorch_cpu.plugin`."""

__version__ = "0.1.0"
