"""``torch.utils.tensorboard.summary``: tensors and numbers as TensorBoard's messages."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from ....dispatch.functions import fn
from ....tensors.tensor import Tensor
from ....values.dtypes import DTYPES, float32, float64, int64
from . import pictures

__all__ = [
    "audio", "custom_scalars", "histogram", "histogram_raw", "hparams", "image", "image_boxes", "mesh",
    "pr_curve", "pr_curve_raw", "scalar", "tensor_proto", "text", "video",
]  # fmt: skip


def _proto(x: Tensor, **options: Any) -> Any:
    """A tensor in TensorBoard's form."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in x.shape])
    return TensorProto(dtype="DT_FLOAT", tensor_shape=shape, float_val=x.flatten().tolist())


def _plugin(name: str, content: bytes = b"") -> Any:
    return SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content)
    )


def scalar(
    name: str,
    tensor: Any,
    collections: Any = None,
    new_style: bool = False,
    double_precision: bool = False,
) -> Any:
    """A number.

    Args:
        name: its tag.
        tensor: one element.
        collections: ignored.
        new_style: in the form of tensors, which newer programs read.
        double_precision: as float64, in that form.

    Raises:
        AssertionError: if it has several elements.
    """
    value = pictures.array(tensor).squeeze()
    if value.dim():
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {value.numel()} and "
            f"{value.dim()} dimensions."
        )
    number = float(value)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    held = (
        TensorProto(double_val=[number], dtype="DT_DOUBLE")
        if double_precision
        else TensorProto(float_val=[number], dtype="DT_FLOAT")
    )
    return Summary(value=[Summary.Value(tag=name, tensor=held, metadata=_plugin("scalars"))])


_FIELDS = {
    "float16": ("DT_HALF", "half_val"), "bfloat16": ("DT_BFLOAT16", "half_val"),
    "float32": ("DT_FLOAT", "float_val"), "float64": ("DT_DOUBLE", "double_val"),
    "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "int_val"),
    "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"),
    "int64": ("DT_INT64", "int64_val"), "bool": ("DT_BOOL", "bool_val"),
    "complex64": ("DT_COMPLEX64", "scomplex_val"), "complex128": ("DT_COMPLEX128", "dcomplex_val"),
}  # fmt: skip


def tensor_proto(tag: str, tensor: Tensor) -> Any:
    """A tensor as it is.

    Raises:
        ValueError: for a dtype that the form has not.
    """
    x = pictures.array(tensor)
    name = str(x.dtype).removeprefix("torch.")
    if name not in _FIELDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {x.dtype}")
    kind, field = _FIELDS[name]
    flat = fn.view_as_real(x) if x.dtype.is_complex else x
    if field == "half_val":
        flat = flat.view(DTYPES["int16"]).to(int64) & 0xFFFF
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in x.shape])
    held = TensorProto(dtype=kind, tensor_shape=shape, **{field: flat.flatten().tolist()})
    return Summary(value=[Summary.Value(tag=tag, tensor=held, metadata=_plugin("tensor"))])


def _wide_bins() -> list[float]:
    """Bounds that grow by a tenth, from 1e-12 to 1e20, on both sides of 0."""
    found, at = [], 1e-12
    while at < 1e20:
        found.append(at)
        at *= 1.1
    return [*(-each for each in reversed(found)), 0.0, *found]


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How many values lie between bounds.

    Args:
        name: its tag.
        values: of any shape.
        bins: ``"tensorflow"``, or what NumPy's histogram takes.
        max_bins: at most so many, neighbours together.

    Raises:
        ValueError: if there are no values.
    """
    held = pictures.array(values).to(float64).flatten()
    if held.numel() == 0:
        raise ValueError("The input has no element.")
    bounds: Any = _wide_bins() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = importlib.import_module("numpy").histogram(held.numpy(), bins=bounds)
    numbers, upper = [int(n) for n in counts], [float(edge) for edge in limits]
    if max_bins is not None and len(numbers) > max_bins:
        step = len(numbers) // max_bins
        numbers = [sum(numbers[i : i + step]) for i in range(0, len(numbers), step)]
        upper = [*upper[:-1:step], upper[-1]]
    filled = [i for i, n in enumerate(numbers) if n]
    if not filled:
        raise ValueError("The histogram is empty, please file a bug report.")
    start, end = filled[0], filled[-1] + 1
    # One empty bin stands before the first that is not: it gives that its lower bound.
    kept = [numbers[start - 1] if start else 0, *numbers[start:end]]
    total = (held * held).sum()
    return _histogram(
        name, held.min().item(), held.max().item(), held.numel(), held.sum().item(), total.item(),
        upper[start : end + 1], kept,
    )  # fmt: skip


def _histogram(
    tag: str, low: float, high: float, num: float, total: float, squares: float, limits: Any, counts: Any
) -> Any:  # fmt: skip
    held = HistogramProto(
        min=low,
        max=high,
        num=num,
        sum=total,
        sum_squares=squares,
        bucket_limit=limits,
        bucket=counts,
    )
    return Summary(value=[Summary.Value(tag=tag, histo=held)])


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Any:
    """A histogram that the program has counted: upper bounds, and how many values lie below each."""
    limits, counts = (
        pictures.array(x).to(float64).tolist() for x in (bucket_limits, bucket_counts)
    )
    return _histogram(name, min, max, num, sum, sum_squares, limits, counts)


def _image(tag: str, shown: Tensor, data: bytes) -> Any:
    height, width, channels = shown.shape
    held = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=data)
    return Summary(value=[Summary.Value(tag=tag, image=held)])


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """An image, or several as one; see `SummaryWriter.add_image`."""
    return image_boxes(tag, tensor, None, rescale, dataformats)


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: Sequence[str] | None = None,
) -> Any:
    """An image with frames around what is in it; see `SummaryWriter.add_image_with_boxes`."""
    shown = pictures.pixels(pictures.laid_out(tensor_image, dataformats))
    if tensor_boxes is not None:
        shown = pictures.drawn(shown, tensor_boxes, labels)
    if rescale != 1:
        size = [int(n * rescale) for n in shown.shape[:2]]
        planes = shown.permute(2, 0, 1).unsqueeze(0).to(float32)
        resized = fn.upsample_bilinear2d(planes, size, False)
        shown = resized.squeeze(0).permute(1, 2, 0).to(shown.dtype)
    return _image(tag, shown, pictures.png(shown))


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """Films (N, T, C, H, W), side by side; it takes the package Pillow."""
    data, first = pictures.film(tensor, fps)
    return _image(tag, first, data)


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """Samples between -1 and 1."""
    data = pictures.sound(tensor, sample_rate)
    held = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=pictures.array(tensor).numel(),
        encoded_audio_string=data,
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=held)])


def text(tag: str, text: str) -> Any:
    """A text in Markdown."""
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    held = TensorProto(dtype="DT_STRING", string_val=[text.encode("utf-8")], tensor_shape=shape)
    metadata = _plugin("text", TextPluginData(version=0).SerializeToString())
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=held)])


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Any:
    """Charts by category: a name, and how its curves are drawn and by which tags."""
    from tensorboard.plugins.custom_scalar import layout_pb2 as form

    categories = []
    for title, charts in layout.items():
        made = []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                value, lower, upper = tags
                series = form.MarginChartContent.Series(value=value, lower=lower, upper=upper)
                content = form.MarginChartContent(series=[series])
                made.append(form.Chart(title=name, margin=content))
            else:
                made.append(form.Chart(title=name, multiline=form.MultilineChartContent(tag=tags)))
        categories.append(form.Category(title=title, chart=made))
    told = form.Layout(category=categories).SerializeToString()
    held = TensorProto(dtype="DT_STRING", string_val=[told], tensor_shape=TensorShapeProto())
    tag = "custom_scalars__config__"
    return Summary(value=[Summary.Value(tag=tag, tensor=held, metadata=_plugin("custom_scalars"))])


def _curve(tag: str, data: Tensor, num_thresholds: int) -> Any:
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    told = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    metadata = _plugin("pr_curves", told)
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=_proto(data))])


def pr_curve_raw(
    tag: str,
    tp: Any,
    fp: Any,
    tn: Any,
    fn: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int = 127,
    weights: Any = None,
) -> Any:
    """Precision and recall by threshold, that the program has counted."""
    rows = [pictures.array(x).to(float32).tolist() for x in (tp, fp, tn, fn, precision, recall)]
    return _curve(tag, pictures.array(rows), min(num_thresholds, 127))


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None
) -> Any:
    """Precision and recall by threshold; see `SummaryWriter.add_pr_curve`."""
    count = min(num_thresholds, 127)
    true = pictures.array(labels).flatten().to(float64)
    at = (pictures.array(predictions).flatten().to(float64) * (count - 1)).floor().to(int64)
    weight = fn.ones_like(true) if weights is None else pictures.array(weights).flatten()

    def above(share: Tensor) -> Tensor:
        """The weight of what is predicted at each threshold or above it."""
        bins = share.new_zeros((count,)).index_add(0, at, share * weight)
        return bins.flip(0).cumsum(0).flip(0)

    tp, fp = above(true), above(1 - true)
    tn, missed = fp[0] - fp, tp[0] - tp
    tiny = 1e-7
    precision = tp / (tp + fp).clamp(min=tiny)
    recall = tp / (tp + missed).clamp(min=tiny)
    return _curve(tag, fn.stack([tp, fp, tn, missed, precision, recall]), count)


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: Mapping[str, Any] | None,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """Points in space (N, V, 3), their colors, and the triangles between them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData as Data

    given = [
        (pictures.array(x), kind)
        for x, kind in ((vertices, Data.VERTEX), (faces, Data.FACE), (colors, Data.COLOR))
        if x is not None
    ]
    components = metadata.get_components_bitmask([kind for _, kind in given])
    told = json.dumps(config_dict or {}, sort_keys=True)
    values = []
    for x, kind in given:
        about = metadata.create_summary_metadata(
            tag, display_name, kind, components, tuple(x.shape), description, json_config=told
        )
        name = metadata.get_instance_name(tag, kind)
        values.append(Summary.Value(tag=name, tensor=_proto(x), metadata=about))
    return Summary(value=values)


def hparams(
    hparam_dict: Mapping[str, Any] | None = None,
    metric_dict: Mapping[str, Any] | None = None,
    hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
) -> tuple[Any, Any, Any]:
    """What a run was told and what it is measured by: of the experiment, its start and its end.

    Args:
        hparam_dict: numbers, truths and texts by name.
        metric_dict: names of numbers that are written.
        hparam_domain_discrete: all values that some of ``hparam_dict`` may have.

    Raises:
        TypeError: if one is no dictionary.
        ValueError: for values of another kind.
    """
    from tensorboard.plugins.hparams import api_pb2 as api
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams import plugin_data_pb2 as form

    domains = hparam_domain_discrete or {}
    for name, given in (
        ("hparam_dict", hparam_dict), ("metric_dict", metric_dict), ("hparam_domain_discrete", domains),
    ):  # fmt: skip
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    start, infos = form.SessionStartInfo(), []
    for name, value in (hparam_dict or {}).items():
        if value is None:
            continue
        kind, shown = _hparam(value)
        setattr(start.hparams[name], kind, shown)
        about = api.HParamInfo(name=name, type=_HPARAMS[kind])
        for each in domains.get(name, ()):
            setattr(about.domain_discrete.values.add(), kind, each)
        infos.append(about)
    metrics = [api.MetricInfo(name=api.MetricName(tag=name)) for name in metric_dict or {}]

    def message(tag: str, **content: Any) -> Any:
        data = form.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
        about = _plugin(metadata.PLUGIN_NAME, data.SerializeToString())
        return Summary(value=[Summary.Value(tag=tag, metadata=about)])

    experiment = api.Experiment(hparam_infos=infos, metric_infos=metrics)
    end = form.SessionEndInfo(status=api.Status.Value("STATUS_SUCCESS"))
    return (
        message(metadata.EXPERIMENT_TAG, experiment=experiment),
        message(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        message(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


_HPARAMS = {
    "number_value": "DATA_TYPE_FLOAT64",
    "string_value": "DATA_TYPE_STRING",
}


def _hparam(value: Any) -> tuple[str, Any]:
    """The field that a value goes to, and the value in it."""
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, int | float):  # and truths, as PyTorch has it
        return "number_value", float(value)
    if isinstance(value, str):
        return "string_value", value
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
