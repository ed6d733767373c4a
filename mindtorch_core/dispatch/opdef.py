"""What the dispatcher knows of an op besides its kernels: its definition, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from ..values.dtypes import dtype
from ..values.promotion import result_type
from ..values.shapes import Shape

__all__ = [
    "NONDIFF",
    "Apart",
    "Exposure",
    "InplaceForm",
    "OpDef",
    "Operands",
    "OutForm",
    "TensorSpec",
]
__all__ += ["Traits"]

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


class Operands(NamedTuple):
    """What an op takes for its tensor arguments, and in which dtype it meets them.

    Attributes:
        numbers: tensor operands after the first may be Python numbers.
        number_first: whether the first operand may be a Python number as well: if the second is a
            ``tensor``, with ``any`` second operand, as that of a ``quotient``, which is a float unless
            it is rounded, so that the number keeps its value beside integers; or not at all.
        kinds: which dtypes the operands may have in common: the letters of bool, int, float and
            complex. The rule raises for others.
        promotes: kernels are handed operands of one dtype, ``compute_dtype(*args)``.
        first_operand: position of the first operand; arguments before it are not promoted.
        broadcasts: gradients are summed back to the operands' shapes.
        varargs: name of the list argument that may be spread; a list of tensors must be.
        crosses_devices: whether arguments may live on different devices: they are moved to the first
            one's, or, if it is ``"as they are"``, left where they are.
        number_source: whether the second operand, which is copied, may be a Python number: kernels
            get a tensor of it.
    """

    numbers: bool = False
    number_first: Literal["", "tensor", "any", "quotient"] = ""
    kinds: str = "bifc"
    promotes: bool = False
    compute_dtype: Callable[..., dtype] = common_dtype
    first_operand: int = 0
    broadcasts: bool = False
    varargs: str = ""
    crosses_devices: bool | str = False
    number_source: bool = False


class Traits(NamedTuple):
    """What backends, pipelines and tests must know of an op.

    Attributes:
        primitive: whether a backend must supply a kernel.
        host: whether the op is left to a numerical library (LAPACK, FFT, special functions): a
            device without a kernel for it has it computed by the CPU's, if it allows that.
        view: whether the result shares the first argument's memory.
        random: whether results differ from call to call.
        draws_if: the argument that is zero, or left out, where a random op draws nothing after all.
        data_dependent: whether the result's shape depends on values.
        undefined: whether the result's elements are whatever the memory holds.
        fills: whether every element that is written becomes the same, so that ``op_`` may write elements
            that share memory.
        puts: the same of ops that choose by position what they write, so that they are not computed
            element by element; of different values the last one stays, or all are added.
        copies: whether the result is the second argument, so that ``op_`` from a tensor onto itself
            has nothing to do.
        moves: whether the result is the first argument on the device that the second one names.
        free_numbers: whether no shape depends on the op's numbers, so that a recorded block may come
            again with others; of element-wise ops, and those that only write, this need not be said.
        trains_through: for a composition that is recorded by its parts, those parts that a backend
            gives its fused kernels for, so that they are used in training.
    """

    primitive: bool = False
    host: bool = False
    view: bool = False
    random: bool = False
    draws_if: str = ""
    data_dependent: bool = False
    undefined: bool = False
    fills: bool = False
    puts: bool = False
    copies: bool = False
    moves: bool = False
    free_numbers: bool = False
    trains_through: Sequence[str] = ()


class Exposure(NamedTuple):
    """Where users find an op.

    Attributes:
        namespaces: ``torch``, ``Tensor``, ``nn`` (torch.nn.functional), or ``nn:other`` for another
            name there.
        operators: the methods of Python operators that it is, such as ``__add__``.
        older_form: whether its scalars may stand among the tensors, as they did of old, with a warning.
        written: how users write it, where they never see its name.
    """

    namespaces: Sequence[str] = ("torch", "Tensor")
    operators: Sequence[str] = ()
    older_form: bool = False
    written: str = ""


class InplaceForm(NamedTuple):
    """How ``op_`` differs from its op.

    Attributes:
        decomposition: in terms of other ops; None derives it from ``op``.
        rule: its rule, if it refuses more than the op's.
        primitive: whether it is what a backend must supply, and the op is made of it.
        namespaces: as in `Exposure`.
    """

    decomposition: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None
    primitive: bool = False
    namespaces: Sequence[str] = ("Tensor",)


class OutForm(NamedTuple):
    """What ``out=`` must be.

    Attributes:
        needs: ``apart`` from the inputs in memory; of the result's ``dtype``, which outputs of ops that are
            not pointwise need anyway, unless they may ``cast``; of the first argument's ``own dtype``, if the
            result's is that; of ``truth`` (bool or uint8), ``real`` or ``inexact``, whatever the result's;
            ``computed in``: its dtype is what the op computes in, where no dtype is given;
            ``whole computed in``: so for whole numbers only;
            ``floats computed in``: so for others, unless the output is of whole numbers;
            ``any shape``: it is resized without a warning.
        draw: ``draw(out, *args, generator)`` fills an output itself, as it lies in memory; None where the
            result is copied into it.
        like: the op that this is another name of, whose output's needs these are; none of its own then.
    """

    needs: Sequence[str] = ()
    draw: Callable[..., Any] | None = None
    like: str = ""


class Apart(NamedTuple):
    """How pipelines record an op that writes into arguments without saying so, where it has a kernel.

    Attributes:
        rule: shapes and dtypes of the results, as `OpDef.rule`.
        record: ``record(whole, parts, *args)`` calls the op by ``whole``, with arguments of which it then
            writes none, and writes by ops what is left to write; ``parts`` is the op's decomposition.
    """

    rule: Callable[..., Any]
    record: Callable[..., Any]


# What an op has of which nothing is said.
_OPERANDS, _TRAITS, _EXPOSURE = Operands(), Traits(), Exposure()
_NONE: Final[Mapping[str, Callable[..., bool]]] = MappingProxyType({})


class OpDef:
    """One op: everything about it that does not depend on a device.

    Attributes:
        name: name with overload, such as ``max.dim``.
        schema: signature in PyTorch's grammar.
        doc: what it computes; becomes the docstring.
        overloads: PyTorch's names of the overloads that the op is in ``torch.ops``, the one that
            stands for it first; empty for the overload of the schema alone.
        tags: PyTorch's tags.
        rule: ``rule(*args) -> TensorSpec``, or a tuple of them, with None for results that an
            argument says are not wanted; also raises the errors about shapes and dtypes. None for
            compositions, and where the shape depends on data.
        decomposition: the op in terms of other ops.
        grad: per differentiable argument a formula, or `NONDIFF`; None if a decomposition supplies
            it. A formula's parameter names say what it needs: ``g`` the incoming gradient, an
            argument's name, ``<argument>_shape``, ``result``. One with ``wanted`` (a truth value per
            argument that it is given for) gives all their gradients.
        saved_if: per argument a function that says whether gradients need it, or no more than None:
            not the statistics that training only writes, for example. Its parameters are named after
            the arguments that it is given.
        node_names: what its nodes are called, where not after it: one name, or two, of which the second
            is for calls with a ``dim``.
        output_differentiability: for several results, which of them may require grad; empty for all.
        operands, traits, exposure: see there.
        inplace, out: the forms ``op_`` and ``out=``; None where there is none.
        functional: for an in-place variant, the op it is the variant of.
        remade: for a composition that writes into arguments without saying so, what backward computes
            anew where a backend's own kernel ran (`mindtorch_core.gradients.whole`).
        apart: for an op that writes into arguments without saying so, how pipelines record it.
    """

    def __init__(
        self,
        name: str,
        schema: str,
        doc: str = "",
        overloads: Sequence[str] = (),
        tags: frozenset[str] = frozenset(),
        rule: Callable[..., Any] | None = None,
        decomposition: Callable[..., Any] | None = None,
        grad: Mapping[str, Formula] | str | None = None,
        saved_if: Mapping[str, Callable[..., bool]] = _NONE,
        node_names: Sequence[str] = (),
        output_differentiability: Sequence[bool] = (),
        operands: Operands = _OPERANDS,
        traits: Traits = _TRAITS,
        exposure: Exposure = _EXPOSURE,
        inplace: InplaceForm | None = None,
        out: OutForm | None = None,
        functional: OpDef | None = None,
        remade: Callable[..., Any] | None = None,
        apart: Apart | None = None,
    ) -> None:
        self.name: Final = name
        self.schema: Final = schema
        self.doc: Final = doc
        self.overloads: Final = overloads
        self.tags: Final = tags
        self.rule: Final = rule
        self.decomposition: Final = decomposition
        self.grad: Final = grad
        self.saved_if: Final = saved_if
        self.node_names: Final = node_names
        self.output_differentiability: Final = output_differentiability
        self.operands: Final = operands
        self.traits: Final = traits
        self.exposure: Final = exposure
        self.inplace: Final = inplace
        self.out: Final = out
        self.functional: Final = functional
        self.remade: Final = remade
        self.apart: Final = apart

    @property
    def base_name(self) -> str:
        """Name without overload."""
        return self.name.partition(".")[0]
