"""Where lines of processes go that a launcher starts; the same with PyTorch and mindtorch."""

import os
import re
import signal
import sys
from pathlib import Path

from torch.distributed.elastic.multiprocessing import (
    DefaultLogsSpecs,
    LogsSpecs,
    SignalException,
    Std,
    to_map,
)
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

CASES = (
    {},
    {"redirects": Std.ALL},
    {"tee": {0: Std.OUT}, "redirects": {1: Std.ERR}},
    {"tee": Std.OUT, "redirects": Std.ERR, "local_ranks_filter": {0}},
)


def tell(call):
    try:
        found = call()
    except (TypeError, ValueError, NotADirectoryError) as error:
        found = type(error).__name__, str(error)
    print(re.sub(r"run_\w+", "run", str(found).replace(sys.argv[1], "FOLDER")), flush=True)


def words():
    for text in ("0", "1", "2", "3", "0:3,1:0", "4", "", "a", "0:4", "10:1", "0:1,", "1,2"):
        tell(lambda text=text: Std.from_str(text))
    tell(lambda: (to_map(Std.OUT, 2), to_map({1: Std.ERR}, 3), Std.ALL | Std.OUT))
    error = SignalException("told to end", signal.SIGTERM)
    print(error, error.sigval)


def places(folder):
    for number, case in enumerate(CASES):
        made = DefaultLogsSpecs(str(folder / str(number)), **case)
        envs = {0: {"TORCHELASTIC_RUN_ID": "run", "TORCHELASTIC_RESTART_COUNT": "2"}, 1: {}}
        tell(lambda made=made, envs=envs: (made.reify(envs), envs, made.root_log_dir, made))
    one, other = (DefaultLogsSpecs(str(folder), tee=tee) for tee in (Std.OUT, Std.ERR))
    print(one == other, one == DefaultLogsSpecs(str(folder), tee=Std.OUT), one == 3)
    nowhere, envs = DefaultLogsSpecs(os.devnull, redirects=Std.ALL), {0: {}}
    found = nowhere.reify(envs)
    print(found.stdouts, found.tee_stdouts, found.error_files, envs)
    file = folder / "file"
    file.touch()
    tell(lambda: DefaultLogsSpecs(str(file)))
    tell(lambda: hash(one))
    try:
        LogsSpecs()
    except TypeError:
        print("LogsSpecs is abstract")


def work(fails):
    rank = int(os.environ["RANK"])
    # A line is one write: what follows the files may read between two.
    sys.stdout.write(f"said by {rank}\n")
    sys.stderr.write(f"wrong with {rank}\n")
    if fails and rank:
        raise KeyError("mine")
    return 10 * rank


def launch(folder):
    for number, case in enumerate(CASES):
        logs = DefaultLogsSpecs(str(folder / f"launched{number}"), **case)
        config = LaunchConfig(
            1, 1, 2, run_id="run", rdzv_backend="c10d", rdzv_endpoint="localhost:0",
            logs_specs=logs, max_restarts=0,
        )  # fmt: skip
        if case:
            print(sorted(elastic_launch(config, work)(False).items()), flush=True)
            for file in sorted((folder / f"launched{number}").glob("*/*/*/*.log")):
                print(*file.parts[-3:], file.read_text().splitlines())


if __name__ == "__main__":
    words()
    places(Path(sys.argv[1]))
    launch(Path(sys.argv[1]))
