"""The losses of an example as JSON: ``example_losses.py NAME OPTIONS...``, in one process or in several."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "examples"))


def digits(options):
    import digits as example

    kept, train = [], example.train

    def keeping(*arguments):
        kept.append(train(*arguments))
        return kept[0]

    example.train = keeping
    assert example.main(options) == 0
    return kept[0].losses


def gpt(options):
    import gpt as example

    return example.main(options)


if __name__ == "__main__":
    if "--output" not in sys.argv:  # to draw takes as long as to train
        import workbench

        workbench.canvas = lambda *_: None
    found = {"digits": digits, "gpt": gpt}[sys.argv[1]](sys.argv[2:])
    print("losses", json.dumps(found))
