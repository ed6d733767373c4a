"""`torch.inference_mode` against PyTorch: flags, nesting, threads, and other parts inside it."""

import contextlib
import threading

import pytest

import mindtorch_core as torch
from both import both, inside, made

pt = pytest.importorskip("torch")


def leaf(lib):
    return lib.ones(3, requires_grad=True)


# ---- the mode -----------------------------------------------------------------------------------


def flags(lib):
    return lib.is_grad_enabled(), lib.is_inference_mode_enabled()


NESTED = {
    "inference": lambda lib: lib.inference_mode(),
    "normal": lambda lib: lib.inference_mode(False),
    "enable_grad": lambda lib: lib.enable_grad(),
    "no_grad": lambda lib: lib.no_grad(),
    "set_grad": lambda lib: lib.set_grad_enabled(True),
}


@pytest.mark.parametrize("outer", NESTED)
@pytest.mark.parametrize("inner", NESTED)
def test_modes_inside_modes(outer, inner):
    def call(lib):
        w = leaf(lib)
        found = [flags(lib)]
        with NESTED[outer](lib):
            found.append(flags(lib))
            with NESTED[inner](lib):
                out = w * 2
                found += [flags(lib), out.requires_grad, out.is_inference(), out.grad_fn is None]
                with NESTED[outer](lib):
                    found += [flags(lib), (w * 2).is_inference()]
                found.append(flags(lib))
            found.append(flags(lib))
        return [*found, flags(lib), (w * 2).requires_grad]

    both(call)


def test_the_mode_ends_with_an_exception():
    def call(lib):
        with contextlib.suppress(ZeroDivisionError), lib.inference_mode(), lib.enable_grad():
            raise ZeroDivisionError
        return flags(lib), lib.ones(1).is_inference()

    both(call)


def test_a_mode_that_is_switched_inside_does_not_leak():
    def call(lib):
        with lib.inference_mode():
            lib.set_grad_enabled(True)
        return flags(lib), (leaf(lib) * 2).requires_grad

    both(call)


def test_one_context_may_be_entered_twice():
    mode = torch.inference_mode()
    with mode:
        with mode:
            assert torch.is_inference_mode_enabled()
        assert torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()


def test_new_threads_start_outside():
    def call(lib):
        found = []
        with lib.inference_mode():
            thread = threading.Thread(
                target=lambda: found.extend([flags(lib), lib.ones(1).is_inference()])
            )
            thread.start()
            thread.join()
        return found

    both(call)


def test_the_mode_of_one_thread_leaves_others_alone():
    entered, done = threading.Event(), threading.Event()

    def stay_inside():
        with torch.inference_mode():
            entered.set()
            done.wait(60)

    thread = threading.Thread(target=stay_inside)
    thread.start()
    assert entered.wait(60)
    out = leaf(torch) * 2
    done.set()
    thread.join()
    assert out.requires_grad
    assert not out.is_inference()


DECORATORS = {
    "bare": lambda lib: lib.inference_mode,
    "called": lambda lib: lib.inference_mode(),
    "off": lambda lib: lib.inference_mode(False),
    "keyword": lambda lib: lib.inference_mode(mode=True),
    "no_grad": lambda lib: lib.no_grad,
    "no_grad called": lambda lib: lib.no_grad(),
    "enable_grad": lambda lib: lib.enable_grad(),
    "set_grad": lambda lib: lib.set_grad_enabled(False),
}


@pytest.mark.parametrize("name", DECORATORS)
def test_decorated_functions(name):
    def call(lib):
        @DECORATORS[name](lib)
        def function(n):
            return [flags(lib)] + (function(n - 1) if n else [])

        assert function.__name__ == "function"
        return flags(lib), function(2), flags(lib)

    both(call)


@pytest.mark.parametrize("name", ["called", "off", "no_grad called", "set_grad"])
def test_decorated_generators_run_in_the_mode_and_their_consumers_do_not(name):
    def call(lib):
        seen = []

        @DECORATORS[name](lib)
        def generator():
            try:
                while True:
                    try:
                        seen.append((yield flags(lib)))
                    except KeyError:
                        seen.append(flags(lib))
                        return 5
            finally:
                seen.append(flags(lib))

        running = generator()
        found = [next(running), flags(lib), running.send(3), flags(lib)]
        with pytest.raises(StopIteration) as end:
            running.throw(KeyError())
        closed = generator()
        next(closed)
        closed.close()
        return found, seen, end.value.value, flags(lib)

    both(call)


def test_a_mode_that_is_no_truth_value():
    both(lambda lib: lib.inference_mode(3, 4))


# ---- with other parts ---------------------------------------------------------------------------


def test_functions_record_nothing_inside():
    def call(lib):
        class Square(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g

        out = inside(lib, Square.apply, leaf(lib))
        both_tensors = [
            out.is_inference(),
            out.requires_grad,
            Square.apply(made(lib)).is_inference(),
        ]
        return both_tensors, out

    both(call)


def test_functions_do_not_save_inference_tensors():
    def call(lib):
        class Scale(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor):
                ctx.save_for_backward(factor)
                return x * factor

            @staticmethod
            def backward(ctx, g):
                return ctx.saved_tensors[0] * g, None

        Scale.apply(leaf(lib), made(lib))

    both(call)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        call(torch)


def test_backward_inside_walks_a_graph_made_outside():
    def call(lib):
        w = leaf(lib)
        out = (w * w).sum().view(1, 1, 1, 1, 1)
        (g,) = inside(lib, lambda: lib.autograd.grad(out, w, create_graph=True))
        other = leaf(lib)  # and then one outside, whose first gradient is a normal tensor
        out = other.exp().sum().view(1, 1, 1, 1, 1)
        (h,) = lib.autograd.grad(out, other, create_graph=True)
        return g, g.requires_grad, h.requires_grad, lib.autograd.grad(h.sum(), other)

    both(call)


def test_nothing_is_recorded_inside():
    both(lambda lib: inside(lib, lambda: (leaf(lib) * 2).sum().backward()))


def test_in_a_pipeline():
    n = torch.ones(3)
    with torch.inference_mode(), torch.pipeline():
        out = (n + 1).view(3, 1) * 2
        assert out._pending
        known = out.is_inference()
        out.add_(1)
        view = n.view(3, 1)
    assert known
    assert out.is_inference()
    assert not view.is_inference()
    assert out.tolist() == [[5], [5], [5]]
    with torch.pipeline():
        assert not (out + 1).is_inference()
        with pytest.raises(RuntimeError, match="Inplace update"):
            out.add_(1)


def test_modes_and_pipelines_begin_and_end_in_any_order():
    n = torch.ones(3)
    with torch.pipeline():
        with torch.inference_mode():
            i = n + 1
        out = i * 2
        assert (i._pending, i.is_inference(), out.is_inference()) == (True, True, False)
    assert (i.tolist(), out.tolist()) == ([2, 2, 2], [4, 4, 4])
    with torch.inference_mode():
        pipe = torch.pipeline()
        with pipe:
            j = n * 3
            view = n.view(3, 1)
            view.add_(1)
    assert (j.is_inference(), view.is_inference(), n._version) == (True, False, 1)
    assert (j.tolist(), n.tolist()) == ([3, 3, 3], [2, 2, 2])


def test_on_meta_tensors():
    with torch.inference_mode():
        t = torch.ones(2, 3, device="meta")
        assert (t @ t.t()).is_inference()
    assert t.is_inference()
    assert not (t + 1).is_inference()
    with pytest.raises(RuntimeError, match="Inplace update"):
        t.zero_()
