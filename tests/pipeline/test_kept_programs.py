"""What is kept of programs: as many as the bound says, until they are forgotten."""

import pytest
from compilers import compiler, ones

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS

__all__ = ["compiler"]


def test_what_is_forgotten_is_compiled_anew_where_a_block_is_replayed(compiler):
    x = ones(3)
    for _ in range(4):
        with torch.pipeline() as pipe:
            y = x * 2
    assert (len(compiler.programs), pipe.stats()["replayed"]) == (1, 1)
    PROGRAMS.forget("toy")
    for _ in range(4):
        with torch.pipeline() as pipe:
            y = x * 2
    assert (len(compiler.programs), pipe.stats()["replayed"]) == (2, 1)
    assert y.tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("bound", "error"), [(-1, ValueError), ("4", TypeError), (None, TypeError)]
)
def test_a_bound_that_is_no_number_of_programs_is_refused(bound, error):
    before = PROGRAMS.bound
    with pytest.raises(error):
        PROGRAMS.bound = bound
    assert PROGRAMS.bound == before


def test_no_more_programs_are_kept_than_the_bound_says(compiler, monkeypatch):
    monkeypatch.setattr(PROGRAMS, "bound", 2)
    PROGRAMS.forget()
    before = PROGRAMS.stats()["evictions"]
    for size in range(1, 6):
        with torch.pipeline():
            y = ones(size) * 2
        assert y.tolist() == [2.0] * size
    stats = PROGRAMS.stats()
    assert (stats["kept"], stats["evictions"] - before) == (2, 3)
