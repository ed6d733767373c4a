"""Linear algebra: the functions of ``torch.linalg``, each defined with its op."""

from .operators.namespaces import serve

__getattr__, __dir__ = serve("linalg", globals())
