"""Recording and walking graphs: nodes, the Autograd keys' kernels, the engine, hooks."""
