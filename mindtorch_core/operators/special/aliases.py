"""Ops of ``torch.special`` that are other names of ops of ``torch``."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ..elementwise.composed import alias

# By name in torch.special, the method that it means and the kinds of dtypes that it serves.
_ONE = {
    "digamma": ("digamma", "bif"),
    "psi": ("digamma", "bif"),
    "gammaln": ("lgamma", "bif"),
    "erf": ("erf", "bif"),
    "erfc": ("erfc", "bif"),
    "erfinv": ("erfinv", "bif"),
    "exp2": ("exp2", "bifc"),
    "expit": ("sigmoid", "bifc"),
    "expm1": ("expm1", "bifc"),
    "i0": ("i0", "bif"),
    "log1p": ("log1p", "bifc"),
    "sinc": ("sinc", "bifc"),
}


def _special(name: str, of: str, signature: str, kinds: str = "bif", **more: Any) -> None:
    more = {"inplace": False, "namespaces": (f"special:{name}",)} | more
    alias(f"special_{name}", of, signature, kinds, **more)


for _name, (_of, _kinds) in _ONE.items():
    _special(_name, _of, "Tensor self", _kinds)
_special("logit", "logit", "Tensor self, float? eps=None")
_special(
    "round",
    "round",
    "Tensor self, *, int decimals=0",
    "if",
    decomposition=lambda self, *, decimals=0: (
        self.round(decimals=decimals) if decimals else self.round()
    ),
)
_special("multigammaln", "mvlgamma", "Tensor self, int p", "if")
_special("gammainc", "igamma", "Tensor self, Tensor other", "f")
_special("gammaincc", "igammac", "Tensor self, Tensor other", "f")
_special(
    "xlogy", "xlogy", "Tensor self, Tensor other", numbers=True, overloads=("", "other_scalar")
)
_special("logsumexp", "logsumexp", "Tensor self, int[1] dim, bool keepdim=False")
_special("softmax", "softmax", "Tensor self, int dim, ScalarType? dtype=None", out=False)
_special(
    "log_softmax",
    "log_softmax",
    "Tensor self, int dim, *, ScalarType? dtype=None",
    out=False,
)
op(
    "special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
    doc="Alias of `xlogy`.",
    decomposition=lambda self, other: fn.xlogy(self, other),
    out=True,
    namespaces=("special:xlogy",),
    out_like="xlogy",
)


op(
    "special_polygamma(int n, Tensor self) -> Tensor",
    doc="Alias of `polygamma`.",
    decomposition=lambda n, self: fn.polygamma(n, self),
    out=True,
    namespaces=("special:polygamma",),
    out_like="polygamma",
)
