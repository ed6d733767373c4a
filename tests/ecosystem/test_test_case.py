"""``torch.testing._internal.common_utils`` against PyTorch: what is equal, and how tests are made and run."""

import io
import unittest

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing._internal import common_utils

pt = pytest.importorskip("torch")
PAIRS = [
    "t.ones(2), t.ones(2) + 1e-7", "t.ones(2), t.ones(2).double()", "t.ones(2), t.ones(2).long()", "1, 1.0", "1, 2",
    "'a', 'b'", "'a', 'a'", "[1, t.ones(1)], [1, t.ones(1)]", "(1, 2), [1, 2]", "{'a': 1}, {'a': 1}", "{'a': 1}, {'b': 1}",
    "t.tensor(float('nan')), t.tensor(float('nan'))", "float('nan'), float('nan')", "t.ones(2), np.ones(2, dtype='float32')",
    "t.ones(2), [1.0, 1.0]", "t.tensor(3), 3", "3, t.tensor(3)", "t.float32, t.float32", "t.float32, t.float64",
    "t.Size([1, 2]), (1, 2)", "t.Size([1, 2]), [1, 2]", "None, None", "True, 1", "t.ones(2, 3), t.ones(3, 2)", "{1}, {1}",
    "{1, 2}, {2, 3}", "t.device('cpu'), t.device('cpu')", "t.eye(3).to_sparse(), t.eye(3).to_sparse()",
    "t.eye(3).to_sparse(), t.eye(3)", "np.ones(2), np.ones(2)", "t.ones(2), None", "t.tensor([True]), t.tensor([1])",
    "1 + 1e-8, 1", "t.ones(2) + 1e-4, t.ones(2)", "{'a': [t.ones(2)]}, {'a': [t.zeros(2)]}", "[1], [1, 2]",
]  # fmt: skip


def outcome(lib, case, pair, **options):
    try:
        case.assertEqual(*eval(pair, {"t": lib, "np": np}), **options)
    except AssertionError:
        return "differ"
    return "equal"


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("torch.testing._internal.common_utils").TestCase


@pytest.mark.parametrize(
    "options", [{}, {"exact_dtype": False}, {"atol": 1e-3, "rtol": 0}], ids=str
)
def test_equal_as_in_pytorch(theirs, options):
    ours = {pair: outcome(torch, common_utils.TestCase(), pair, **options) for pair in PAIRS}
    assert ours == {pair: outcome(pt, theirs(), pair, **options) for pair in PAIRS}


def cases_of(utils, lib):
    class Cases(utils.TestCase):
        precision = 1e-3

        def test_tolerance(self):
            self.assertEqual(lib.ones(2), lib.ones(2) + 5e-4)

        def test_fails(self):
            self.assertEqual(lib.ones(2), lib.zeros(2), msg="mine")

        def test_not_equal(self):
            self.assertNotEqual(lib.ones(2), lib.zeros(2))
            self.assertEqualIgnoreType(lib.ones(2), lib.ones(2).long())

        def test_not_equal_fails(self):
            self.assertNotEqual(lib.ones(2), lib.ones(2))

        def test_random(self):
            self.assertEqual(
                lib.rand(1).item(), lib.rand(1, generator=lib.Generator().manual_seed(1234)).item()
            )

        @utils.parametrize("a", [1, 2])
        @utils.parametrize("b,c", [("x", 0.5), utils.subtest(("y", True), name="named")])
        def test_many(self, a, b, c):
            self.assertEqual(a, 1)

    return utils.instantiate_parametrized_tests(Cases)


def test_tests_are_made_and_run_as_in_pytorch(theirs):
    from torch.testing._internal import common_utils as their_utils

    reports = []
    for utils, lib in ((common_utils, torch), (their_utils, pt)):
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases_of(utils, lib))
        result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
        failed = sorted(test.id().rpartition(".")[2] for test, _ in result.failures)
        reports.append((result.testsRun, failed, result.errors))
        assert any("\nmine" in text for _, text in result.failures)
    assert reports[0] == reports[1]


def test_the_state_of_a_program_is_restored():
    before = torch.get_rng_state()
    with common_utils.freeze_rng_state(), common_utils.set_default_dtype(torch.float64):
        assert torch.rand(1).dtype is torch.float64
    assert torch.get_default_dtype() is torch.float32
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(ValueError, match="both"):
        common_utils.TestCase().assertEqual(1, 1, atol=1)
