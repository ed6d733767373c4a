"""Pages of functions and methods, with the text that ``help()`` shows."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

import mindtorch_core as torch

# Page: title, what is imported, and how its names are called there.
PAGES: Final = {
    "api/torch.md": ("torch", "mindtorch_core", "torch"),
    "api/tensor.md": ("torch.Tensor", "mindtorch_core", "Tensor"),
    "api/functional.md": ("torch.nn.functional", "mindtorch_core.nn.functional", "F"),
    "api/linalg.md": ("torch.linalg", "mindtorch_core.linalg", "linalg"),
    "api/fft.md": ("torch.fft", "mindtorch_core.fft", "fft"),
    "api/special.md": ("torch.special", "mindtorch_core.special", "special"),
}
INTRODUCTION: Final = """\
# {title}

{count} {what}, as `help()` shows them. Names, arguments and defaults are PyTorch's. Type into the field to
filter; [the tables of ops](../ops.md) say which of them have a gradient, and what the CPU has kernels for.

"""
_SECTION: Final = re.compile(
    r"^(Args|Arguments|Returns|Raises|Example|Examples|Note|Yields|Warns):$"
)
_SIGNATURE: Final = re.compile(r"^[\w.]+\(.*\)( -> .+)?$")


def pages() -> dict[str, str]:
    """Markdown of each page by its path."""
    return {path: _page(*what) for path, what in PAGES.items()}


def _page(title: str, module: str, prefix: str) -> str:
    owner = importlib.import_module(module)
    if title == "torch.Tensor":
        owner, what = torch.Tensor, "methods"
    else:
        what = "functions"
    found = dict(_documented(owner))
    parts = [INTRODUCTION.format(title=title, count=len(found), what=what)]
    parts += [_entry(f"{prefix}.{name}", doc) for name, doc in sorted(found.items(), key=_order)]
    return "\n".join(parts)


def _order(item: tuple[str, str]) -> tuple[str, str]:
    """In-place forms directly after their function."""
    return item[0].rstrip("_"), item[0]


def _documented(owner: Any) -> Iterator[tuple[str, str]]:
    """Public functions of a module or class that have a text."""
    for name in dir(owner):
        if name.startswith("_"):
            continue
        try:
            value = getattr(owner, name)
        except (AttributeError, RuntimeError):  # a name that says why it is missing
            continue
        doc = getattr(value, "__doc__", None)
        if callable(value) and not isinstance(value, type) and doc:
            yield (
                name,
                doc if _SIGNATURE.match(doc.strip().split("\n")[0]) else _signed(name, value),
            )


def _signed(name: str, value: Any) -> str:
    """The text of a Python function, whose signature stands in its code."""
    doc = str(value.__doc__)
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:  # a function of C's
        return doc
    # Without types, which the pages of ops do not have either.
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    text = str(inspect.Signature(bare))
    return doc if " object at " in text or "<" in text else f"{name}{text}\n\n{doc}"


def _entry(name: str, doc: str) -> str:
    """One function: its signatures, then its text."""
    lines = inspect.cleandoc(doc).split("\n")
    signatures = []
    while lines and _SIGNATURE.match(lines[0]):
        signatures.append(lines.pop(0))
    # Below the signature the first line stands at the margin, and others where their source does.
    lines = inspect.cleandoc("\n".join(lines).strip()).split("\n")
    text = "\n".join(_markdown(lines)).strip()
    parts = [f"## {name.replace('_', chr(92) + '_')} {{ #{name} .entry }}", ""]
    if signatures:
        parts += ["```python", *signatures, "```", ""]
    return "\n".join([*parts, text, ""])


def _markdown(lines: list[str]) -> Iterator[str]:
    """Google's sections as lists; double backticks as single ones, examples as code."""
    section = fenced = False
    for line in lines:
        if fenced and not line.strip():
            fenced = False
            yield "```"
        if line.lstrip().startswith(">>>") and not fenced:
            fenced = True
            yield "\n```python"
        if fenced:
            yield line.strip()
        elif found := _SECTION.match(line):
            section = True
            yield f"\n**{found[1]}**\n"
        else:
            yield _text(line, section)
    if fenced:
        yield "```"


def _text(line: str, section: bool) -> str:
    """A line that is no code; in a section, one that starts an argument becomes a list's point."""
    line = line.replace("``", "`") if "`" in line else line.replace("<", "&lt;")
    if section and (found := re.match(r"^    (\*{0,2}\w+): (.*)", line)):
        return f"- `{found[1]}`: {found[2]}"
    return re.sub(r"^ {4,}", "  ", line)
