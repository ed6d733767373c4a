"""What the dispatcher knows of an op besides its kernels: its definition, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..dtypes import dtype
from ..promotion import result_type
from ..shapes import Shape

__all__ = ["NONDIFF", "OpDef", "TensorSpec"]

# The gradient of ops whose result does not depend smoothly on their inputs: comparisons, argmax.
NONDIFF: Final = "nondiff"

Formula = Callable[..., Any]


def common_dtype(*operands: Any, **_: Any) -> dtype:
    """The dtype in which an op's operands meet; its options have no say."""
    return result_type(*operands)


class TensorSpec:
    """What a rule says about an output: shape, dtype and, where not row-major, its layout.

    Attributes:
        shape: sizes.
        dtype: element type.
        strides: in elements, or None for row-major.
        offset: storage offset in elements; only views have one.
    """

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(
        self, shape: Shape, dtype: dtype, strides: Shape | None = None, offset: int = 0
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.offset = offset

    @property
    def stride(self) -> Shape | None:
        """PyTorch's name of ``strides``."""
        return self.strides

    def __repr__(self) -> str:
        return f"TensorSpec({list(self.shape)}, {self.dtype}, strides={self.strides})"


@dataclass(frozen=True, slots=True, eq=False)
class OpDef:
    """One op: everything about it that does not depend on a device.

    Attributes:
        name: name with overload, such as ``max.dim``.
        schema: signature in PyTorch's grammar.
        doc: what it computes; becomes the docstring.
        rule: ``rule(*args) -> TensorSpec``, or a tuple of them, with None for results that an
            argument says are not wanted; also raises the errors about shapes and dtypes. None for
            compositions, and where the shape depends on data.
        grad: per differentiable argument a formula, or `NONDIFF`; None if a decomposition supplies
            it. A formula's parameter names say what it needs: ``g`` the incoming gradient, an
            argument's name, ``<argument>_shape``, ``result``. One with ``wanted`` (a truth value per
            argument that it is given for) gives all their gradients.
        saved_if: per argument a condition on the arguments, as Python text, without which gradients
            need no more than None for it: statistics that training only writes, for example.
        output_differentiability: for several results, which of them may require grad; empty for all.
        decomposition: the op in terms of other ops.
        primitive: whether a backend must supply a kernel.
        host: whether the op is left to a numerical library (LAPACK, FFT, special functions): a
            device without a kernel for it has it computed by the CPU's, if it allows that.
        numbers: tensor operands after the first may be Python numbers.
        number_first: whether the first operand may be a Python number as well: if the second is a
            ``tensor``, with ``any`` second operand, or not at all.
        kinds: which dtypes the operands may have in common: the letters of bool, int, float and
            complex. The rule raises for others.
        promotes: kernels are handed operands of one dtype, ``compute_dtype(*args)``.
        first_operand: position of the first operand; arguments before it are not promoted.
        broadcasts: gradients are summed back to the operands' shapes.
        inplace, out: whether ``op_`` and ``out=`` exist.
        inplace_decomposition: ``op_`` in terms of other ops; None derives it from ``op``.
        inplace_rule: the rule of ``op_``, if it refuses more than the op's.
        inplace_primitive: whether ``op_`` is what a backend must supply, and the op is made of it.
        out_needs: what ``out=`` must be besides: ``apart`` from the inputs in memory, of the result's
            ``dtype``.
        varargs: name of the list argument that may be spread; a list of tensors must be.
        view: whether the result shares the first argument's memory.
        random: whether results differ from call to call.
        data_dependent: whether the result's shape depends on values.
        fills: whether every element becomes the same, so that ``op_`` may write elements that share
            memory.
        copies: whether the result is the second argument, so that ``op_`` from a tensor onto itself
            has nothing to do.
        crosses_devices: whether arguments may live on different devices: they are moved to the first
            one's, or, if it is ``"as they are"``, left where they are.
        namespaces: where users find it: ``torch``, ``Tensor``, ``nn`` (torch.nn.functional), or
            ``nn:other`` for another name there.
        inplace_namespaces: the same for the in-place variant.
        functional: for an in-place variant, the op it is the variant of.
        overloads: PyTorch's names of the overloads that the op is in ``torch.ops``, the one that
            stands for it first; empty for the overload of the schema alone.
        tags: PyTorch's tags.
    """

    name: str
    schema: str
    doc: str = ""
    rule: Callable[..., Any] | None = None
    grad: Mapping[str, Formula] | str | None = None
    saved_if: Mapping[str, str] = field(default_factory=dict)
    output_differentiability: Sequence[bool] = ()
    decomposition: Callable[..., Any] | None = None
    primitive: bool = False
    host: bool = False
    numbers: bool = False
    number_first: Literal["", "tensor", "any"] = ""
    kinds: str = "bifc"
    promotes: bool = False
    compute_dtype: Callable[..., dtype] = common_dtype
    first_operand: int = 0
    broadcasts: bool = False
    inplace: bool = False
    inplace_decomposition: Callable[..., Any] | None = None
    inplace_rule: Callable[..., Any] | None = None
    inplace_primitive: bool = False
    out: bool = False
    out_needs: Sequence[str] = ()
    varargs: str = ""
    operators: Sequence[str] = ()
    view: bool = False
    random: bool = False
    data_dependent: bool = False
    fills: bool = False
    copies: bool = False
    crosses_devices: bool | str = False
    namespaces: Sequence[str] = ("torch", "Tensor")
    inplace_namespaces: Sequence[str] = ("Tensor",)
    functional: OpDef | None = None
    overloads: Sequence[str] = ()
    tags: frozenset[str] = field(default_factory=frozenset)

    @property
    def base_name(self) -> str:
        """Name without overload."""
        return self.name.partition(".")[0]
