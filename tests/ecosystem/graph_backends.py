"""A backend of ``torch.compile`` that tests share, and what it is given."""


class Backend:
    """Runs graphs as they are, and keeps them."""

    def __init__(self):
        self.graphs = []

    def __call__(self, graph, inputs):
        assert len(graph.graph.find_nodes(op="placeholder")) == len(inputs)
        self.graphs.append(graph)
        return graph.forward


def looks(x):
    return x + 1 if x.sum() > 0 else x - 1
