"""Functions of ``torch.nn.functional``; each is defined with its op in `mindtorch_core.operators`."""

from ..operators.namespaces import serve

__getattr__, __dir__ = serve("nn", globals(), from_torch=("tanh", "sigmoid"))
