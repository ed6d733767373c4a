"""What transforms refuse: PyTorch's type of error and its words, a program a line."""

import pytest
from refused_words import words_are

pt = pytest.importorskip("torch")


def names(lib):
    """What programs may name."""
    return {"t": lib, "f": lib.func, "nn": lib.nn, "same": lambda x: x, "pair": lambda x: (x, x)}


PROGRAMS = """
    f.vmap(same, in_dims="a")(t.ones(2))
    f.vmap(lambda x, y: x, in_dims=(0,))(t.ones(2), t.ones(2))
    f.vmap(same, in_dims=(1.5,))(t.ones(2))
    f.vmap(same, in_dims=(3,))(t.ones(2))
    f.vmap(same)(3)
    f.vmap(same)()
    f.vmap(same, randomness="other")(t.ones(2))
    f.vmap(lambda x: 3)(t.ones(2))
    f.grad(same, has_aux=True)(t.tensor(1.0))
    f.grad(same, argnums=())(t.tensor(1.0))
    f.jvp(same, (t.tensor(1),), (t.tensor(1),))
    f.jvp(same, (3,), (3,))
    f.jvp(same, (t.ones(1),), (3,))
    f.stack_module_state([])
    f.stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
    f.stack_module_state([nn.Linear(1, 1), nn.ReLU()])
"""
# Words of our own, and PyTorch's type of error.
OWN = {
    "f.vmap(same, in_dims=(None,))(t.ones(2))":
        "vmap(<lambda>, in_dims=(None,), ...)(<inputs>): at least one input should be mapped over: in_dims has "
        "None for all of them",
    "f.vmap(pair, out_dims=(0, 0, 0))(t.ones(2))":
        "vmap(<lambda>, ..., out_dims=(0, 0, 0)): out_dims is not compatible with the structure of `outputs`. "
        "out_dims has structure TreeSpec(tuple, None, [*,\n  *,\n  *]) but outputs has structure "
        "TreeSpec(tuple, None, [*,\n  *]).",
    "f.vmap(lambda x: t.ones(2).copy_(x))(t.ones(3, 2))":
        "vmap: copy_(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
        "has more elements than `self`: what is written is batched, and where it is written is not. Make the "
        "tensor from one that is batched, as with x.new_zeros.",
    'f.vmap(lambda x: t.ones(2).normal_(), randomness="different")(t.ones(2))':
        "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
        "randomness. If this is necessary for your usage, please file an issue",
    'f.vmap(lambda x: t.bernoulli(x), randomness="same")(t.ones(2))':
        "Vmap does not currently support same randomness with a batched tensor input",
    "f.grad(same, argnums=1.5)(t.tensor(1.0))": "argnum must be int or Tuple[int, ...], got: 1.5",
    "f.grad(same, argnums=1)(t.tensor(1.0))":
        "Got argnum=1, but only 1 positional inputs: expected it to be below that",
    "f.grad(same)(t.tensor(1))":
        "grad: expected inputs of floating point or complex dtype, got torch.int64",
    "f.grad(same)(3)": "grad: Expected all inputs to be Tensors, got <class 'int'>",
    "f.jacrev(same)(t.tensor(1))":
        "jacrev: expected inputs of floating point or complex dtype, got torch.int64",
    "f.jacfwd(same)(t.tensor(1))": "Expected primal to be floating point, but got: torch.int64",
    "f.vjp(pair, t.tensor(1.0))[1](t.tensor(1.0))":
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
        "cotangents: *, primal output: TreeSpec(tuple, None, [*,\n  *])",
    "f.stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)])":
        "Expected parameters from different models to have the same requires_grad: some have it, some do not",
}  # fmt: skip

test_words = words_are(PROGRAMS, OWN, names)
