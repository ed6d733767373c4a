"""What recurrent layers have in common."""

from __future__ import annotations

import math
import numbers
import weakref
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .utils import unusual

__all__ = ["RNNBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """What recurrent layers have in common.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        input_size: features of each step.
        hidden_size: features of the states.
        num_layers: layers, each of which walks over what that before it gave.
        bias: whether there are biases.
        batch_first: whether batches are (batch, steps, features).
        dropout: probability of dropout between layers.
        bidirectional: whether each layer walks both ways.
        proj_size: features of what LSTMs give, if they are projected.
        device: of the parameters.
        dtype: of the parameters.
    """

    _flat_weights_names: list[str]
    _flat_weights: list[Any]
    _all_weights: list[list[str]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_settings(dropout)
        self.dropout = float(dropout)
        self._flat_weight_refs: list[Any] = []
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = self._shapes(layer, f"_l{layer}{suffix}")
                for name, shape in shapes.items():
                    setattr(self, name, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                self._flat_weights_names += shapes
                self._all_weights.append(list(shapes))
        self._init_flat_weights()
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _shapes(self, layer: int, end: str) -> dict[str, tuple[int, ...]]:
        """The parameters of one direction of a layer, in order."""
        rows = _GATES[self.mode] * self.hidden_size
        given = self.proj_size or self.hidden_size
        features = self.input_size if layer == 0 else given * self._directions
        shapes: dict[str, tuple[int, ...]] = {
            f"weight_ih{end}": (rows, features),
            f"weight_hh{end}": (rows, given),
        }
        if self.bias:
            shapes |= {f"bias_ih{end}": (rows,), f"bias_hh{end}": (rows,)}
        if self.proj_size:
            shapes[f"weight_hr{end}"] = (self.proj_size, self.hidden_size)
        return shapes

    def _check_settings(self, dropout: Any) -> None:
        number = isinstance(dropout, numbers.Real) and not isinstance(dropout, bool)
        if not number or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element "
                "being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warn_user(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
                f"expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={self.num_layers}",
            )
        for name, kind in (
            ("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int),
        ):  # fmt: skip
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(
                    f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
                )
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    # ---- weights -------------------------------------------------------------------------------

    def _init_flat_weights(self) -> None:
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if w is None else weakref.ref(w) for w in self._flat_weights]

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if name in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Nothing: no backend here wants the parameters in one piece of memory."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        made = super()._apply(fn, recurse)
        self._init_flat_weights()
        return made

    def _weights_have_changed(self) -> bool:
        return any(
            ref is not None
            and getattr(self, name, None) is not None
            and ref() is not getattr(self, name)
            for ref, name in zip(self._flat_weight_refs, self._flat_weights_names, strict=True)
        )

    def _update_flat_weights(self) -> None:
        """Take up parameters that something put into their places, such as a parametrization."""
        if self._weights_have_changed():
            self._init_flat_weights()

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, by direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Draw new values, uniform within ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def __getstate__(self) -> dict[str, Any]:
        self._update_flat_weights()
        state = super().__getstate__()
        del state["_flat_weight_refs"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)
        self._init_flat_weights()

    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()
        replica._flat_weights = replica._flat_weights[:]
        replica._flat_weights_names = replica._flat_weights_names[:]
        return replica

    def extra_repr(self) -> str:
        """Sizes, and what is not as by default."""
        return f"{self.input_size}, {self.hidden_size}" + unusual(
            self,
            proj_size=0,
            num_layers=1,
            bias=True,
            batch_first=False,
            dropout=0,
            bidirectional=False,
        )

    # ---- forward -------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse inputs that do not fit.

        Raises:
            ValueError: for another dtype than the weights'.
            RuntimeError: for another rank or number of features.
        """
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype and not torch.is_autocast_enabled():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        rank = 3 if batch_sizes is None else 2
        if input.dim() != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.shape[0 if self.batch_first else 1]

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of hidden states: (layers * directions, batch, features)."""
        features = self.proj_size or self.hidden_size
        return self.num_layers * self._directions, self._batch(input, batch_sizes), features

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuse states of another shape.

        Raises:
            RuntimeError: with the text given.
        """
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse inputs and states that do not fit.

        Raises:
            RuntimeError: for other shapes.
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States in another order of the batch."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Zeros."""
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return torch.zeros(shape, dtype=input.dtype, device=input.device)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        """States with a batch dimension.

        Raises:
            RuntimeError: if their rank does not go with the input's.
        """
        rank = 3 if batched else 2
        if hx.dim() != rank:
            kind = "batched" if batched else "unbatched"
            raise RuntimeError(
                f"For {kind} {rank}-D input, hx should also be {rank}-D but got {hx.dim()}-D tensor"
            )
        return hx if batched else hx.unsqueeze(1)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Walk over sequences.

        Args:
            input: (steps, batch, features), with ``batch_first`` (batch, steps, features), (steps,
                features), or a `PackedSequence`.
            hx: the first states, (layers * directions, batch, features); of an LSTM the hidden and
                the cell ones; zeros by default.

        Returns:
            The outputs in the input's form, and the last states.
        """
        self._update_flat_weights()
        packed = isinstance(input, PackedSequence)
        sizes = order = back = None
        batched = True
        if packed:
            input, sizes, order, back = input
        else:
            if input.dim() not in (2, 3):
                what = "D tensor" if self.mode.startswith("RNN") else "D"
                raise ValueError(
                    f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}{what} instead"
                )
            batched = input.dim() == 3
        axis = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(axis)
        if hx is None:
            hx = self._first_states(input, sizes)
        elif not packed:
            hx = self._with_batch(hx, batched)
        hx = self.permute_hidden(hx, order)
        self.check_forward_args(input, hx, sizes)
        run = getattr(torch, self.mode.lower())
        settings = (
            self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional,
        )  # fmt: skip
        if packed:
            output, *last = run(input, sizes, hx, *settings)
            output = PackedSequence(output, sizes, order, back)
        else:
            output, *last = run(input, hx, *settings, self.batch_first)
            if not batched:
                output, last = output.squeeze(axis), [state.squeeze(1) for state in last]
        states = tuple(last) if self.mode == "LSTM" else last[0]
        return output, self.permute_hidden(states, back)
