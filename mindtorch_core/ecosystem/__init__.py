"""What programs written for PyTorch ask for around tensors: devices' settings, compilers, exporters.

Each module has the path of PyTorch's module of that name, as ``torch.jit``; `frontend.surroundings` has the
table. Every answer is true: what mindtorch does not do is importable where libraries import it, and
says so when it is called. Modules that hold nothing else are rows of `absent_names`.
"""

from .absent import install

install()
