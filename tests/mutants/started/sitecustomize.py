"""Processes that tests start do as those that started them: they note blocks, or have a fault."""

import os

if "MUTANTS_BLOCKS" in os.environ:
    from pathlib import Path

    import blocks

    blocks.note(Path(os.environ["MUTANTS_BLOCKS"]))

if "MUTANTS_FAULT" in os.environ:
    import faulty

    faulty.put_on_import()
