"""`Compare`: measurements in a table, rows by what is done and columns by how."""

from __future__ import annotations

from collections.abc import Iterable

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Compare"]

_BEST, _NEAR, _FAR, _END = "\033[92m", "\033[34m", "\033[31m", "\033[0m"


class Compare:
    """Shows measurements beside each other: a table for each label, a column for each description.

    Args:
        results: measurements.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trims = self._colors = self._warns = self._rowwise = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: for something else.
        """
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, but got {type(each)} instead."
                )
            self._results.append(each)

    def trim_significant_figures(self) -> None:
        """Show no more digits than the spread leaves."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Show the fastest in green and the slowest in red, of a row or of a column."""
        self._colors, self._rowwise = True, rowwise

    def highlight_warnings(self) -> None:
        """Mark times with a wide spread."""
        self._warns = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(each.task_spec.label for each in merged)
        return "\n".join(
            self._table(label, [m for m in merged if m.task_spec.label == label])
            for label in labels
        )

    def _table(self, label: str | None, found: list[Measurement]) -> str:
        unit, size = select_unit(min(m.median for m in found))
        columns = ordered_unique(m.task_spec.description for m in found)
        with_env = len({m.task_spec.env for m in found}) > 1
        cells: dict[tuple[tuple[int, str], str | None], Measurement] = {}
        for m in found:
            env = f"({m.task_spec.env}) " if with_env and m.task_spec.env else ""
            cells[(m.num_threads, env + m.as_row_name), m.task_spec.description] = m
        rows = ordered_unique(row for row, _ in cells)
        heads = ["", *(column or "" for column in columns)]
        body = [
            [f"      {row[1]}", *(self._shown(cells.get((row, c)), size) for c in columns)]
            for row in rows
        ]
        widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
        lines = ["  |  ".join(f"{h:^{w}}" for h, w in zip(heads, widths, strict=True))]
        threads = 0
        for row, texts in zip(rows, body, strict=True):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(lines[0]), "-"))
            padded = [f"{texts[0]:<{widths[0]}}"]
            for column, text, width in zip(columns, texts[1:], widths[1:], strict=True):
                padded.append(self._colored(f"{text:>{width}}", row, column, cells))
            lines.append("  |  ".join(padded))
        title = f" {label} " if label else ""
        above = f"[{title:-^{max(len(lines[0]) - 2, len(title))}}]"
        return (
            "\n".join([above, *lines, "", f"Times are in {unit_to_english(unit)}s ({unit})."])
            + "\n"
        )

    def _shown(self, m: Measurement | None, size: float) -> str:
        if m is None:
            return ""
        value = m.median / size
        text = f"{trim_sigfig(value, m.significant_figures):g}" if self._trims else f"{value:.1f}"
        return f"(! {m.iqr / m.median:.0%}) {text}" if self._warns and m.has_warnings else text

    def _colored(
        self,
        text: str,
        row: tuple[int, str],
        column: str | None,
        cells: dict[tuple[tuple[int, str], str | None], Measurement],
    ) -> str:
        own = cells.get((row, column))
        if not self._colors or own is None:
            return text
        beside = [
            m.median for (r, c), m in cells.items() if (r == row if self._rowwise else c == column)
        ]
        best = min(beside)
        if own.median == best:
            return f"{_BEST}{text}{_END}"
        return f"{_FAR if own.median == max(beside) else _NEAR}{text}{_END}"
