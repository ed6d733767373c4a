"""Run the checks of some ops and print how they went: ``python tests/opinfo/run.py NAME...``

Names are those of PyTorch's OpInfos (``nn.functional.conv2d``) or begin them; ``--failing`` shows only
what fails, ``--check forward-float32`` only checks whose name begins so, ``--trace`` whole tracebacks.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from checks import OPS, NoSample, cases  # noqa: E402
from counterparts import Missing  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--failing", action="store_true")
    parser.add_argument("--check", default="")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    totals = Counter()
    for name, op in OPS.items():
        if options.names and not any(
            name == n.replace(".", "_") or op.name == n or (n.endswith("*") and op.name.startswith(n[:-1]))
            for n in options.names
        ):
            continue
        start, bad = time.perf_counter(), []
        how = Counter()
        for check, run in cases(op):
            if not check.startswith(options.check):
                continue
            try:
                run(device=options.device)
                how["passed"] += 1
            except NoSample:
                how["without samples"] += 1
            except Missing as error:
                how["missing"] += 1
                bad.append((check, f"missing {error}"))
            except Exception as error:
                how["failed"] += 1
                text = "".join(traceback.format_exception(error)) if options.trace else (
                    f"{type(error).__name__}: {error}"[:400]
                    + " | ".join(getattr(error, "__notes__", ()))
                )
                bad.append((check, text))
        totals.update(how)
        if bad or not options.failing:
            took = time.perf_counter() - start
            print(f"{name}: {dict(how)} {took:.1f} s")
        if how["missing"] == how.total() - how["without samples"]:
            continue
        for check, text in bad:
            print(f"    {check}: {text}")
    print(dict(totals))


if __name__ == "__main__":
    main()
