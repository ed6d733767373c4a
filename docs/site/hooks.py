"""What MkDocs asks for while it builds the site: pages made from the code, and links out of `docs/`.

Pages that follow from the code are made anew with each build and are never committed: the functions as
``help()`` shows them, the benchmarks' pictures, and what the dispatcher says about calls.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

import charts
import functions
import kernels_of_calls
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[2]

# Files beside `docs/` that are pages of the site: where they lie, and as what they are shown.
BESIDE: Final = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
WIDE: Final = {"ops.md", "npu_ops.md"}  # tables that want the room of the table of contents
_FENCED: Final = re.compile(r"^(```.*?^```)$", re.S | re.M)
_LINK: Final = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that do not lie in ``docs/``."""
    made = {shown: (ROOT / path).read_text("utf-8") for path, shown in BESIDE.items()}
    made |= functions.pages()
    made["benchmarks.md"] = charts.page(ROOT / "benchmarks" / "results")
    # A script, not JSON that a script fetches: browsers fetch nothing for pages read from a disk.
    calls = json.dumps(kernels_of_calls.data(), separators=(",", ":"))
    made["site/calls.js"] = f"window.mindtorchCalls = {calls};"
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links out of ``docs/`` to the site's pages; those to sources become the path's name.

    Links of the files beside ``docs/`` are relative to the root, where they are read otherwise.
    """
    shown = {name: path for path, name in BESIDE.items()}
    here = Path(shown.get(page.file.src_uri, f"docs/{page.file.src_uri}")).parent

    def led(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        place = os.path.normpath(here / path)
        if place in BESIDE:
            place = f"docs/{BESIDE[place]}"
        if not place.startswith("docs/"):
            return f"{text} (`{place}`)" if place not in text else text
        start = Path("docs", page.file.src_uri).parent
        return f"[{text}]({os.path.relpath(place, start)}{hash_}{anchor})"

    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    parts = _FENCED.split(markdown)
    return "".join(p if p.startswith("```") else _LINK.sub(led, p) for p in parts)
