"""Facts without tensors: dtypes, devices, shapes, promotion, layouts, errors."""
