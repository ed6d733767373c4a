"""`mindtorch_core.ecosystem.quantization` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

DeQuantStub: Any
FakeQuantize: Any
FakeQuantizeBase: Any
HistogramObserver: Any
MinMaxObserver: Any
MovingAverageMinMaxObserver: Any
ObserverBase: Any
PerChannelMinMaxObserver: Any
PlaceholderObserver: Any
QConfig: Any
QConfigMapping: Any
QuantStub: Any
QuantWrapper: Any
convert: Any
convert_fx: Any
default_observer: Any
default_per_channel_weight_observer: Any
default_weight_observer: Any
disable_observer: Any
fuse_modules: Any
fuse_modules_qat: Any
get_default_qat_qconfig: Any
get_default_qconfig: Any
prepare: Any
prepare_fx: Any
prepare_qat: Any
prepare_qat_fx: Any
quantize: Any
quantize_dynamic: Any
