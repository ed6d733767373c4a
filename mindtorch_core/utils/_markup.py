"""For packages above the core: HTML for notebooks."""

from ..values.markup import box, escaped, preformatted, table

__all__ = ["box", "escaped", "preformatted", "table"]
