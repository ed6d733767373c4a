"""What `torch.compiler.set_stance` changes: what it changes in PyTorch."""

import json

import pytest

import mindtorch_core as mt

WORDS = "Detected recompile when torch.compile stance is 'fail_on_recompile'"


def outcome(call):
    try:
        return call().tolist()
    except RuntimeError as error:
        return str(error).partition(".")[0] + "."


def played(torch, stance, backend):
    """Results of calls under a stance, and how many graphs a backend had compiled after each."""
    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph.forward

    f = torch.compile(lambda x: x * 2 + 1, backend=count if backend == "own" else backend)
    found = []

    def play(*args):
        found.append([outcome(lambda: f(*args)), len(graphs)])

    if "then" not in stance:
        play(torch.ones(2, 3))
    with torch.compiler.set_stance(stance):
        play(torch.ones(2, 3))
        play(torch.ones(2, 3))
        play(torch.ones(2, 3, dtype=torch.float64))
        play(torch.ones(3))
        with torch.no_grad():
            play(torch.ones(2, 3))
    play(torch.ones(3))
    return found


STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
)
CASES = [(stance, backend) for stance in STANCES for backend in ("own", "eager")]

# In a process of its own: PyTorch's compiler replaces how the interpreter calls functions.
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_stances as cases
import torch
found = []
for case in cases.CASES:
    torch._dynamo.reset()
    found.append(cases.played(torch, *case))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def theirs(of_pytorch):
    return of_pytorch(ASK)


@pytest.mark.parametrize("case", range(len(CASES)), ids=["-".join(c) for c in CASES])
def test_pytorch_does_the_same(case, theirs):
    ours = json.loads(json.dumps(played(mt, *CASES[case])))
    assert ours == theirs[case]


@pytest.fixture
def compiled():
    yield mt.compile(lambda x: x + 1)
    mt.compiler.set_stance("default")


def test_what_is_new_is_named(compiled):
    mt.compiler.set_stance("fail_on_recompile")
    with pytest.raises(RuntimeError, match=r"test_stances\.py'.*\n    nothing was compiled before"):
        compiled(mt.ones(2))
    mt.compiler.set_stance("default")
    compiled(mt.ones(2))
    mt.compiler.set_stance("fail_on_recompile")
    for args, words in [
        ((mt.ones(3),), r"tensor 0 .* is \[3\] torch\.float32, before it was \[2\] torch\.float32"),
        (
            (mt.ones(2, requires_grad=True),),
            "tensor 0 .* has the .*AutogradCPU.*, before it had the",
        ),
        ((mt.ones(2), mt.ones(2)), "2 tensors among the arguments, before there were 1"),
    ]:
        with pytest.raises(RuntimeError, match=WORDS) as caught:
            compiled(*args)
        assert caught.match(words)
    with mt.no_grad(), pytest.raises(RuntimeError, match="gradients are recorded"):
        compiled(mt.ones(2))
    assert compiled(mt.zeros(2)).tolist() == [1, 1]


def test_a_compiled_module_is_refused_by_its_forward():
    module = mt.compile(mt.nn.Linear(3, 2))
    with (
        mt.compiler.set_stance("fail_on_recompile"),
        pytest.raises(RuntimeError, match="'forward'"),
    ):
        module(mt.ones(1, 3))
    module(mt.ones(1, 3))
    with mt.compiler.set_stance("fail_on_recompile"):
        assert module(mt.ones(1, 3)).shape == (1, 2)


def test_what_a_known_call_calls_is_no_call_of_its_own():
    inner = mt.compile(lambda x: x[:2] + 1)
    outer = mt.compile(lambda x, n: inner(x[:n]) * 2)
    for _ in range(12):
        outer(mt.ones(5), 3)
    with mt.compiler.set_stance("fail_on_recompile"):
        assert [outer(mt.ones(5), n).tolist() for n in (3, 4)] == [[4, 4], [4, 4]]


@pytest.mark.parametrize("backend", ["eager", "own"])
def test_a_backend_may_be_forced(backend):
    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph.forward

    f = mt.compile(lambda x: x + 1, backend=count if backend == "eager" else "inductor")
    with mt.compiler.set_stance(force_backend=backend if backend == "eager" else count):
        assert [f(mt.ones(1)).item() for _ in range(2)] == [2, 2]
    assert len(graphs) == (backend == "own")
    f(mt.ones(1))
    assert len(graphs) == 1


def test_stances_hold_in_all_threads_and_end(compiled):
    import threading

    found = []
    with mt.compiler.set_stance("fail_on_recompile"):
        thread = threading.Thread(
            target=lambda: found.append(outcome(lambda: compiled(mt.ones(2))))
        )
        thread.start()
        thread.join()
    assert found == ["Detected recompile when torch."]

    @mt.compiler.set_stance("fail_on_recompile")
    def strict(x):
        return compiled(x)

    compiled(mt.ones(2))
    assert strict(mt.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=WORDS):
        strict(mt.ones(3))
    assert compiled(mt.ones(3)).tolist() == [2, 2, 2]


def test_what_stances_refuse():
    set_stance = mt.compiler.set_stance
    with pytest.raises(RuntimeError, match=r"non-default stance cannot have force_backend set"):
        set_stance("force_eager", force_backend="eager")
    with pytest.raises(mt._dynamo.exc.InvalidBackend):
        set_stance(force_backend="unheard of")
    for backend in ("eager", lambda graph, inputs: graph.forward):
        with pytest.raises(
            RuntimeError, match=r"attempted to set_stance in a torch\.compile region"
        ):
            mt.compile(lambda x: set_stance("force_eager"), backend=backend)(mt.ones(1))
