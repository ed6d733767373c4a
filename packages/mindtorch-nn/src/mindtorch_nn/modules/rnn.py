"""Recurrent layers and their cells."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from .rnn_base import RNNBase
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

F = TypeVar("F", bound=Callable[..., Any])


def _shown(**own: Any) -> Callable[[F], F]:
    """Decorator: an initializer is shown with the arguments of `RNNBase`, but for the mode.

    Args:
        own: those that not all layers have, with their defaults; ``nonlinearity`` stands fourth.
    """

    def show(initializer: F) -> F:
        base = signature(RNNBase.__init__)
        shown = [
            p for p in base.parameters.values() if p.name not in {"mode", "proj_size"} - {*own}
        ]
        if "nonlinearity" in own:
            shown.insert(
                4, Argument("nonlinearity", Argument.POSITIONAL_OR_KEYWORD, default="tanh")
            )
        vars(initializer)["__signature__"] = base.replace(parameters=shown)
        return initializer

    return show


class RNN(RNNBase):
    """Elman's network: ``h = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)`` at each step.

    Args:
        input_size: features of each step.
        hidden_size: features of the states.
        num_layers: layers, each of which reads what the one before it gave.
        nonlinearity: "tanh" or "relu".
        bias: whether there are biases.
        batch_first: whether batches are (batch, steps, features), not (steps, batch, features).
        dropout: probability of dropout between layers.
        bidirectional: whether each layer reads in both directions.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: for another nonlinearity, or sizes that are not positive.

    Example:
        >>> layer = torch.nn.RNN(3, 4, batch_first=True)
        >>> output, hidden = layer(torch.ones(2, 5, 3))
        >>> output.shape, hidden.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    nonlinearity: str

    if TYPE_CHECKING:

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
            bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
            bidirectional: bool = False, device: Any = None, dtype: Any = None,
        ) -> None: ...  # fmt: skip

    else:

        @_shown(nonlinearity="tanh")
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            _refuse_projection(kwargs)
            if len(args) > 3:
                nonlinearity = args[3]
                args = args[:3] + args[4:]
            else:
                nonlinearity = kwargs.pop("nonlinearity", "tanh")
            if nonlinearity not in ("tanh", "relu"):
                raise ValueError(
                    f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
                )
            super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
            self.nonlinearity = nonlinearity


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014).

    Args:
        input_size: features of each step.
        hidden_size: features of the states.
        num_layers: layers, each of which reads what the one before it gave.
        bias: whether there are biases.
        batch_first: whether batches are (batch, steps, features), not (steps, batch, features).
        dropout: probability of dropout between layers.
        bidirectional: whether each layer reads in both directions.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: for sizes that are not positive.

    Example:
        >>> layer = torch.nn.GRU(3, 4, batch_first=True)
        >>> output, hidden = layer(torch.ones(2, 5, 3))
        >>> output.shape, hidden.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    if TYPE_CHECKING:

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1,
            bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
            bidirectional: bool = False, device: Any = None, dtype: Any = None,
        ) -> None: ...  # fmt: skip

    else:

        @_shown()
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            _refuse_projection(kwargs)
            super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997).

    Args:
        input_size: features of each step.
        hidden_size: features of the states.
        num_layers: layers, each of which reads what the one before it gave.
        bias: whether there are biases.
        batch_first: whether batches are (batch, steps, features), not (steps, batch, features).
        dropout: probability of dropout between layers.
        bidirectional: whether each layer reads in both directions.
        proj_size: features of what is given at each step, if states are projected; 0 for no projection.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: for sizes that are not positive, or a ``proj_size`` that is not below ``hidden_size``.

    Example:
        >>> layer = torch.nn.LSTM(3, 4, batch_first=True)
        >>> output, (hidden, cell) = layer(torch.ones(2, 5, 3))
        >>> output.shape, hidden.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    if TYPE_CHECKING:

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1,
            bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
            bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
        ) -> None: ...  # fmt: skip

    else:

        @_shown(proj_size=0)
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of cell states: (layers * directions, batch, hidden_size)."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse inputs and states that do not fit.

        Raises:
            RuntimeError: for other shapes.
        """
        self.check_input(input, batch_sizes)
        for i, expected in enumerate(
            (
                self.get_expected_hidden_size(input, batch_sizes),
                self.get_expected_cell_size(input, batch_sizes),
            )
        ):
            self.check_hidden_size(hidden[i], expected, f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states in another order of the batch."""
        return hx if permutation is None else tuple(h.index_select(1, permutation) for h in hx)

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shapes = (
            self.get_expected_hidden_size(input, batch_sizes),
            self.get_expected_cell_size(input, batch_sizes),
        )
        return tuple(torch.zeros(s, dtype=input.dtype, device=input.device) for s in shapes)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        rank = 3 if batched else 2
        if hx[0].dim() != rank or hx[1].dim() != rank:
            kind = "batched" if batched else "unbatched"
            raise RuntimeError(
                f"For {kind} {rank}-D input, hx and cx should also be {rank}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return tuple(hx) if batched else tuple(h.unsqueeze(1) for h in hx)
