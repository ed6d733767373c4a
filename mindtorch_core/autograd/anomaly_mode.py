"""``torch.autograd.anomaly_mode``: where a failing backward was recorded, by the path that programs know."""

from ..gradients.anomaly_mode import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
