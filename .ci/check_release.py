"""Whether built distributions are those of a tag: `python .ci/check_release.py dist v0.1.0`.

The changelog must have a dated section of the version, and every file must carry it. Wheels that were
compiled for this machine are taken away: an index takes such only for systems that it knows, and pip makes
them from the sdist.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def faults(tag: str, folder: Path, changelog: str) -> Iterator[str]:
    """What keeps a folder of distributions from being released under a tag."""
    version = tag.removeprefix("v")
    if not re.fullmatch(r"v\d+\.\d+\.\d+((a|b|rc)\d+)?", tag):
        yield f"the tag is {tag}, and should be like v0.1.0"
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.M):
        yield f"CHANGELOG.md has no section '## [{version}] - YEAR-MONTH-DAY'"
    built = [p.name for p in sorted(folder.iterdir()) if p.suffix in (".whl", ".gz")]
    if not built:
        yield f"there is nothing in {folder}"
    for name in built:
        found = re.match(r"\w+?-([^-]+?)(\.tar\.gz|-.*\.whl)$", name)
        if found is None or found[1] != version:
            yield f"{name} is not of version {version}"


def main(place: str, tag: str = "missing") -> int:
    """Check a folder, and take away what no index takes; 1 if it is not to be released."""
    folder = Path(place)
    found = list(faults(tag, folder, CHANGELOG.read_text("utf-8")))
    for wheel in folder.glob("*-linux_*.whl"):
        wheel.unlink()
    print("\n".join(found) or f"{len(list(folder.iterdir()))} files of {tag}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
