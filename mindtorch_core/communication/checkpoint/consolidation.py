"""Files of whole tensors, made of the parts that ranks have written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import Together
from .hugging_face import HuggingFaceStorageReader, HuggingFaceStorageWriter
from .storage import Id

__all__ = ["consolidate_safetensors_files", "consolidate_safetensors_files_on_every_rank"]


def consolidate_safetensors_files(
    input_dir: Id,
    output_dir: Id,
    fqn_to_index_mapping: Mapping[str, int],
    num_threads: int = 1,
) -> None:
    """Put the parts that ranks have written into files of whole tensors, with an index.

    Args:
        input_dir: the folder of parts.
        output_dir: the folder of the new files; it is made.
        fqn_to_index_mapping: by the name of each tensor that is to be there, into which file it goes, from 1.
        num_threads: accepted; one thread writes.

    Raises:
        ValueError: if a tensor of the mapping is not in the folder of parts.
        RuntimeError: if a file is damaged, or a part missing.
    """
    _consolidate(input_dir, output_dir, fqn_to_index_mapping, None, alone=True)


def consolidate_safetensors_files_on_every_rank(
    input_dir: Id,
    output_dir: Id,
    fqn_to_index_mapping: Mapping[str, int],
    num_threads: int = 1,
    process_group: Any = None,
) -> None:
    """`consolidate_safetensors_files` whose files are shared out among ranks; all ranks call it.

    Args:
        input_dir: as there.
        output_dir: as there.
        fqn_to_index_mapping: as there.
        num_threads: accepted.
        process_group: the ranks; None for all.

    Raises:
        CheckpointException: on all ranks, if one of them fails.
    """
    _consolidate(input_dir, output_dir, fqn_to_index_mapping, process_group)


def _consolidate(
    parts: Id, whole: Id, numbers: Mapping[str, int], group: Any, *, alone: bool = False
) -> None:
    writer, reader = HuggingFaceStorageWriter(whole, numbers), HuggingFaceStorageReader(parts)

    def own(rank: int, ranks: int) -> tuple[dict[str, str], int]:
        there = reader.read_metadata().state_dict_metadata
        if missing := sorted(set(numbers) - set(there)):
            raise ValueError(f"{parts} has no {', '.join(missing)}")
        Path(whole).mkdir(parents=True, exist_ok=True)
        names = [name for name, number in numbers.items() if number % ranks == rank]
        return writer.join(reader, names)

    def index(written: list[tuple[dict[str, str], int]]) -> None:
        files = {name: file for each, _ in written for name, file in each.items()}
        writer.write_index(dict(sorted(files.items())), sum(size for _, size in written))

    if alone:
        index([own(0, 1)])
        return
    together = Together(group)
    ranks = together.size
    written = together.step("a rank could not write its files", lambda: own(together.rank, ranks))

    def finish() -> None:
        if together.rank == 0:
            index(written)

    together.step("the index could not be written", finish)
