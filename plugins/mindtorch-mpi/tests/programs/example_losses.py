"""The losses of an example as JSON: ``example_losses.py NAME OPTIONS...``, in one process or in several."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "examples"))


def digits(options):
    import digits as example
    import workbench

    import mindtorch as torch

    args = example.options(options)
    torch.manual_seed(args.seed)
    training, held_out = example.load(torch.device("cpu"))
    with workbench.group():
        return example.train(example.Model(), training, held_out, args).losses


def gpt(options):
    import gpt as example

    return example.main(options)


if __name__ == "__main__":
    found = {"digits": digits, "gpt": gpt}[sys.argv[1]](sys.argv[2:])
    print("losses", json.dumps(found))
