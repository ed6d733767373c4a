"""Run the checks of some ops and print how they went: ``python tests/opinfo/run.py NAME...``

Names are those of PyTorch's OpInfos (``nn.functional.conv2d``), their full names
(``div_floor_rounding``), or the beginnings of some (``special.*``).
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bare
from checks import OPS, cases
from gradchecks import gradcheck_cases
from survey import FAILED, MISSING, outcome


def chosen(name, op, wanted):
    """Whether an op is among the wanted ones."""
    return not wanted or any(
        op.name == w or name == w.replace(".", "_") or (w[-1] == "*" and op.name.startswith(w[:-1]))
        for w in wanted
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--failing", action="store_true", help="show only ops that do not pass")
    parser.add_argument("--check", default="", help="only checks whose name begins so")
    parser.add_argument("--trace", action="store_true", help="stop at the first error")
    parser.add_argument("--device", default="cpu", help="cpu or bare")
    options = parser.parse_args()
    if options.device == "bare":
        bare.install(tempfile.mkdtemp())
    totals = Counter()
    for name, op in OPS.items():
        if not chosen(name, op, options.names):
            continue
        start, found = time.perf_counter(), {}
        for check, run in (*cases(op), *gradcheck_cases(op)):
            if check.startswith(options.check):
                found[check] = outcome(run, options.device)
                if options.trace and found[check][0] in (FAILED, MISSING):
                    run(device=options.device)
        how = Counter(result for result, _ in found.values())
        totals.update(how)
        bad = {
            check: text for check, (result, text) in found.items() if result in (FAILED, MISSING)
        }
        if bad or not options.failing:
            print(f"{name}: {dict(how)} {time.perf_counter() - start:.1f} s")
        if how[MISSING] and not how[FAILED]:
            bad = dict(list(bad.items())[:1])
        for check, text in bad.items():
            print(f"    {check}: {text[:600]}")
    print(dict(totals))


if __name__ == "__main__":
    main()
