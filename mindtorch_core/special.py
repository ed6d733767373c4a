"""Special functions: those of ``torch.special``, each defined with its op."""

from .operators.namespaces import serve

__getattr__, __dir__ = serve("special", globals())
