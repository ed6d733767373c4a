"""Single steps of recurrent layers."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from .. import init
from .module import Module
from .utils import declare

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What cells have in common.

    Args:
        input_size: features of inputs.
        hidden_size: features of states.
        bias: whether there are biases.
        num_chunks: gates.
        device: of the parameters.
        dtype: of the parameters.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shape = (rows,) if bias else None
        declare(
            self, device, dtype,
            weight_ih=(rows, input_size), weight_hh=(rows, hidden_size), bias_ih=shape, bias_hh=shape,
        )  # fmt: skip
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """Sizes, and what is not as by default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, op: Any, input: Tensor, states: Any, count: int = 1) -> list[Tensor]:
        """One step; inputs and states may be without a batch dimension."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, state in enumerate(states or ()):
            if state.dim() not in (1, 2):
                what = f"hx[{i}]" if count > 1 else "hidden"
                raise ValueError(
                    f"{name}: Expected {what} to be 1D or 2D, got {state.dim()}D instead"
                )
        batched = input.dim() == 2
        batch = input if batched else input.unsqueeze(0)
        if states is None:
            zeros = torch.zeros(
                batch.size(0), self.hidden_size, dtype=input.dtype, device=input.device
            )
            states = [zeros] * count
        elif not batched:
            states = [state.unsqueeze(0) for state in states]
        hx = list(states) if count > 1 else states[0]
        made = op(batch, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        found = list(made) if count > 1 else [made]
        return found if batched else [each.squeeze(0) for each in found]


class RNNCell(RNNCellBase):
    """One step of `RNN`; inputs are (batch, input_size), states (batch, hidden_size).

    Args:
        input_size: features of inputs.
        hidden_size: features of the state.
        bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> cell = torch.nn.RNNCell(3, 4)
        >>> hidden = cell(torch.ones(2, 3))
        >>> cell(torch.ones(2, 3), hidden).shape
        torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(batch, input_size) and (batch, hidden_size) to the next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        op = getattr(torch, f"rnn_{self.nonlinearity}_cell")
        return self._step(op, input, None if hx is None else [hx])[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`; inputs are (batch, input_size), both states (batch, hidden_size).

    Args:
        input_size: features of inputs.
        hidden_size: features of the states.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> cell = torch.nn.LSTMCell(3, 4)
        >>> hidden, memory = cell(torch.ones(2, 3))
        >>> hidden.shape, memory.shape
        (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """(batch, input_size) and the two states (batch, hidden_size) to the next states."""
        if isinstance(hx, Tensor):
            raise TypeError(
                "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor"
            )
        h, c = self._step(torch.lstm_cell, input, hx, 2)
        return h, c


class GRUCell(RNNCellBase):
    """One step of `GRU`; inputs are (batch, input_size), states (batch, hidden_size).

    Args:
        input_size: features of inputs.
        hidden_size: features of the state.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> cell = torch.nn.GRUCell(3, 4)
        >>> cell(torch.ones(2, 3)).shape
        torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(batch, input_size) and (batch, hidden_size) to the next state."""
        return self._step(torch.gru_cell, input, None if hx is None else [hx])[0]
