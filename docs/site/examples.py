"""What docstrings show under ``Example:`` is code on the site, as griffe makes it of ``Examples:`` alone."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object


class CodeExamples(Extension):
    """Has examples be read as lines of an interpreter, not as text."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rename the section of an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M
            )
