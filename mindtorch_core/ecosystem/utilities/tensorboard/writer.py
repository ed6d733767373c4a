"""`SummaryWriter`: what a program writes for TensorBoard as it runs."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, Self

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.summary.writer.record_writer import RecordWriter

from ....dispatch.functions import fn
from . import embedding, pictures, summary

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]


class FileWriter:
    """Writes events into one file, from a thread of its own.

    Args:
        log_dir: the folder.
        max_queue: how many events wait before they are written.
        flush_secs: seconds after which they are written.
        filename_suffix: what the file's name ends in.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        found: str = self.event_writer.get_logdir()
        return found

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, at a step and a time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a summary."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and end."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Nothing: the file is open."""


class SummaryWriter:
    """Writes numbers, pictures and more for TensorBoard, by the package of that name.

    Every ``add_...`` takes the tag under which it is shown, ``global_step`` and ``walltime``, seconds
    since 1970.

    Args:
        log_dir: the folder; by default one in ``runs`` by the time and the machine's name.
        comment: the end of that name.
        purge_step: what was written for this step and later ones is hidden.
        max_queue: how many events wait before they are written.
        flush_secs: seconds after which they are written.
        filename_suffix: what the names of files end in.

    Example:
        >>> with SummaryWriter("runs/first") as writer:  # doctest: +SKIP
        ...     writer.add_scalar("loss", 0.5, global_step=1)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._projector: Any = None
        self._layout: dict[str, Any] = {}
        self._get_file_writer()

    def _open(self, folder: str | os.PathLike[str]) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """The writer of the folder's own file; a new one after `close`."""
        if self.file_writer is not None:
            return self.file_writer
        self.file_writer = made = self._open(self.log_dir)
        self.all_writers = {made.get_logdir(): made}
        if self.purge_step is not None:
            made.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
            start = SessionLog(status=SessionLog.START)
            made.add_event(Event(step=self.purge_step, session_log=start))
            self.purge_step = None
        return made

    def _add(self, made: Any, global_step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, global_step, walltime)

    def get_logdir(self) -> str | os.PathLike[str]:
        """The folder."""
        return self.log_dir

    # ---- numbers ---------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number; ``new_style`` and ``double_precision`` are its form in the file."""
        made = summary.scalar(
            tag, scalar_value, new_style=new_style, double_precision=double_precision
        )
        self._add(made, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers for one chart, each in a folder of its own."""
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            path = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if path not in self.all_writers:
                self.all_writers[path] = self._open(path)
            self.all_writers[path].add_summary(
                summary.scalar(main_tag, value), global_step, walltime
            )

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a tensor as it is."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how values are distributed; ``bins`` as NumPy's histogram takes them."""
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
        bucket_limits: Any, bucket_counts: Any, global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a histogram that the program has counted.

        Raises:
            ValueError: if there are not as many counts as bounds.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        made = summary.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(made, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write precision and recall of probabilities, by threshold."""
        made = summary.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
        true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
        global_step: Any = None, num_thresholds: int = 127, weights: Any = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write precision and recall that the program has counted."""
        made = summary.pr_curve_raw(
            tag, true_positive_counts, false_positive_counts, true_negative_counts,
            false_negative_counts, precision, recall, num_thresholds, weights,
        )  # fmt: skip
        self._add(made, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Write what a run was told and what came of it, in a folder of its own below this one."""
        messages = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        below = run_name or str(time.time())
        folder = os.path.join(self._get_file_writer().get_logdir(), below)
        with SummaryWriter(log_dir=folder) as writer:
            for message in messages:
                writer._add(message, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    # ---- pictures, sounds, texts -----------------------------------------------------------------

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write an image: bytes, or floating-point numbers from 0 to 1."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write several images as one, or a list of them."""
        if isinstance(img_tensor, list):
            if dataformats.upper() not in ("CHW", "HWC"):
                raise ValueError(
                    "A list of image is passed in, but the dataformat is neither CHW nor HWC."
                )
            img_tensor = fn.stack([pictures.array(each) for each in img_tensor])
            dataformats = f"N{dataformats}"
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Write an image with frames (left, top, right, bottom), which labels name."""
        named = [labels] if isinstance(labels, str) else labels
        if named is not None and len(named) != len(box_tensor):
            named = None
        made = summary.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, named)
        self._add(made, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Write a figure of matplotlib's, or a list of them; ``close`` it then."""
        letters = "NHWC" if isinstance(figure, list | tuple) else "HWC"
        shown = pictures.figure_pixels(figure, close)
        self.add_image(tag, shown, global_step, walltime, letters)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Write films (N, T, C, H, W), side by side; it takes the package Pillow."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Write samples between -1 and 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a text in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write points in space (N, V, 3), with colors, and triangles between them."""
        made = summary.mesh(tag, vertices, colors, faces, config_dict)
        self._add(made, global_step, walltime)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Write vectors (N, D) for the projector, with N labels and pictures (N, C, H, W)."""
        folder = Path(self._get_file_writer().get_logdir())
        self._projector = embedding.add(
            self._projector, folder, mat, metadata, label_img, global_step or 0, tag, metadata_header
        )  # fmt: skip

    # ---- layouts of charts -----------------------------------------------------------------------

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Write which tags stand in which chart: names of categories, of charts, and their curves."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write that tags stand in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write that three tags are a curve and the bounds of its margin."""
        if len(tags) != 3:
            raise AssertionError(f"a chart with a margin has three tags, not {len(tags)}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    # ---- what would need graphs ------------------------------------------------------------------

    def add_graph(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        _refuse("add_graph", "mindtorch traces no modules into graphs: leave the call out")

    def add_onnx_graph(self, prototxt: Any) -> NoReturn:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        _refuse("add_onnx_graph", "mindtorch reads no ONNX")

    # ---- the end ---------------------------------------------------------------------------------

    def _each(self, do: Callable[[FileWriter], None]) -> None:
        for writer in (self.all_writers or {}).values():
            do(writer)

    def flush(self) -> None:
        """Write what waits."""
        self._each(FileWriter.flush)

    def close(self) -> None:
        """Write what waits, and close the files; another ``add_...`` begins a new one."""
        self._each(FileWriter.flush)
        self._each(FileWriter.close)
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _refuse(name: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"SummaryWriter.{name} is not part of mindtorch: {reason}")
