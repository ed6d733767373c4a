"""The core finds this distribution's names where PyTorch has them, as one module with two paths."""

import subprocess
import sys

import pytest

import mindtorch_core as torch
import mindtorch_nn


def run(script):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_path_of_the_core_is_the_module_itself():
    import mindtorch_core.nn.parameter as by_path

    assert by_path is mindtorch_nn.parameter
    assert by_path is torch.nn.parameter
    assert by_path.__spec__.name == by_path.__name__ == "mindtorch_nn.parameter"


def test_names_are_those_of_the_distribution():
    from mindtorch_core.nn import Parameter
    from mindtorch_core.nn.parameter import Parameter as by_path

    assert torch.nn.Parameter is Parameter is by_path is mindtorch_nn.Parameter
    assert "Parameter" in dir(torch.nn)
    assert "functional" in dir(torch.nn)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match=r"'mindtorch_core.nn' has no attribute 'Nonesuch'"):
        _ = torch.nn.Nonesuch
    with pytest.raises(
        ModuleNotFoundError, match=r"No module named 'mindtorch_core.nn.parameter.no'"
    ):
        import mindtorch_core.nn.parameter.no  # noqa: F401
    with pytest.raises(ImportError, match="Nonesuch"):
        from mindtorch_core.nn import Nonesuch  # noqa: F401


def test_the_core_imports_nothing_of_it_by_itself():
    run(
        "import sys, mindtorch_core as torch\n"
        "torch.nn, torch.utils, torch.nn.functional\n"
        "assert not [m for m in sys.modules if m.startswith('mindtorch_nn')]"
    )


def test_without_the_distribution_every_way_says_what_to_install():
    run(
        "import importlib.abc, sys\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'mindtorch_nn':\n"
        "            raise ModuleNotFoundError('no', name='mindtorch_nn')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import mindtorch_core as torch\n"
        "for ask in ('torch.nn.Linear', 'torch.nn.init', 'torch.optim', 'torch.utils.data',\n"
        "            'torch.distributions'):\n"
        "    try: eval(ask)\n"
        "    except AttributeError as error:\n"
        "        assert 'pip install mindtorch-nn' in str(error), error\n"
        "        assert ask.rpartition('.')[2] in str(error), error\n"
        "    else: raise SystemExit(ask)\n"
        "for name in ('nn.modules.module', 'nn.utils.rnn', 'optim.lr_scheduler', 'utils.data',\n"
        "             'distributions.normal'):\n"
        "    try: __import__('mindtorch_core.' + name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        assert 'pip install mindtorch-nn' in str(error), error\n"
        "        assert 'mindtorch_core.' + name.partition('.')[0] in str(error), error\n"
        "    else: raise SystemExit(name)\n"
        "dir(torch.nn); assert not hasattr(torch.nn, 'Linear')\n"
    )
