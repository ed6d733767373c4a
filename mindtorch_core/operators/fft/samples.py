"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ..family_samples import FamilySamples
from ..family_samples import sample as s
from ..recipes import DEVICE
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_SIGNAL: Final = t(2, 6)
_WAVES: Final = t(2, 5, dtype="complex64")
_LINE: Final = s("last", _SIGNAL), s("size", _SIGNAL, 4), s("ortho", _SIGNAL, None, 0, "ortho")
_HALF: Final = s("last", _WAVES), s("size", _WAVES, 6), s("ortho", _WAVES, None, 0, "ortho")
_PLANE: Final = (
    s("both", _SIGNAL),
    s("sizes", _SIGNAL, (3, 4)),
    s("forward", _SIGNAL, norm="forward"),
)
_FORMS: Final[dict[str, tuple[Any, ...]]] = {
    **{
        f"{name}_window{form}": more
        for name in ("hann", "hamming", "bartlett", "blackman", "kaiser")
        for form, more in (("", ()), (".periodic", (False,)))
    },
    "hamming_window.periodic_alpha": (True, 0.6),
    "hamming_window.periodic_alpha_beta": (True, 0.6, 0.4),
    "kaiser_window.beta": (True, 8.0),
}


SAMPLES: Final = FamilySamples(
    calls={
        # frequencies
        "fft_fftfreq": (s("six", 6, 0.5, device=DEVICE),),
        "fft_rfftfreq": (s("seven", 7, device=DEVICE),),
        "fft_fftshift": (s("all", t(3, 4)), s("last", t(3, 4), -1)),
        "fft_ifftshift": (s("all", t(3, 4)), s("last", t(3, 4), -1)),
        # parts
        "_fft_c2c": (s("forward", _WAVES, [1], 0, True), s("inverse", _WAVES, [0, 1], 2, False)),
        "_fft_r2c": (s("half", _SIGNAL, [1], 0, True), s("whole", _SIGNAL, [0, 1], 1, False)),
        "_fft_c2r": (s("even", _WAVES, [1], 2, 8), s("odd", _WAVES, [0, 1], 1, 9)),
        # spectrogram
        "stft": (s("plain", t(12), 4, return_complex=True),),
        "stft.center": (s("constant", t(12), 4, pad_mode="constant", return_complex=True),),
        "istft": (s("plain", t(3, 4, dtype="complex64"), 4),),
        # transforms
        **{f"fft_{n}": _LINE for n in ("fft", "ifft", "rfft", "ihfft")},
        **{f"fft_{n}": _HALF for n in ("hfft", "irfft")},
        **{f"fft_{n}{many}": _PLANE for n in ("fft", "ifft", "rfft", "ihfft") for many in "2n"},
        **{
            f"fft_{n}{many}": (s("both", _WAVES), s("sizes", _WAVES, (2, 6)))
            for n in ("hfft", "irfft")
            for many in "2n"
        },
        # windows
        **{name: (s("five", 5, *more, device=DEVICE),) for name, more in _FORMS.items()},
    },
)
