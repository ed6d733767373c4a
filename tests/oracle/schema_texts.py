"""What the tests of operator schemas share: how a parsed schema compares with PyTorch's."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema

pt = pytest.importorskip("torch")

ALIASES = re.compile(r"\([\w*]+(\|[\w*]+)*!?( -> [\w*]+(\|[\w*]+)*)?\)")


def canonical(text):
    """A schema's text with the names of alias sets sorted: PyTorch's order is that of a hash table."""

    def ordered(match):
        sides = match[0][1:-1].split(" -> ")
        return f"({' -> '.join([names(s.rstrip('!')) + '!' * s.endswith('!') for s in sides])})"

    def names(side):
        return "|".join(sorted(side.split("|"), key=lambda name: (name == "*", name)))

    return ALIASES.sub(ordered, text)


def compare_arguments(ours, theirs):
    assert ours.name == theirs.name
    assert ours.N == theirs.N
    assert ours.kwarg_only == theirs.kwarg_only
    assert ours.is_out == theirs.is_out
    assert ours.is_write == theirs.is_write
    assert ours.has_default_value() == theirs.has_default_value()
    assert str(ours.real_type) == str(theirs.real_type)
    assert ours.real_type.kind() == theirs.real_type.kind()
    value, expected = ours.default_value, theirs.default_value
    if isinstance(expected, pt.device):
        expected = str(expected)
    assert (type(value), value) == (type(expected), expected)
    assert (ours.alias_info is None) == (theirs.alias_info is None)
    if ours.alias_info is not None:
        assert ours.alias_info.before_set == theirs.alias_info.before_set
        assert ours.alias_info.after_set == theirs.alias_info.after_set
        assert ours.alias_info.is_write == theirs.alias_info.is_write


def compare(ours, theirs):
    """Fail unless two parsed schemas agree in text and structure."""
    assert str(ours) == canonical(str(theirs))
    assert ours.qualified_name == theirs.name
    assert ours.overload_name == theirs.overload_name
    assert ours.is_mutable == theirs.is_mutable
    assert len(ours.arguments) == len(theirs.arguments)
    assert len(ours.returns) == len(theirs.returns)
    for mine, other in zip(ours.arguments, theirs.arguments, strict=True):
        compare_arguments(mine, other)
    for mine, other in zip(ours.returns, theirs.returns, strict=True):
        compare_arguments(mine, other)


def refused_by(parse, text):
    """The exception with which a parser refuses a text, or None."""
    try:
        parse(text)
    except (torch.SchemaError, RuntimeError, IndexError, ValueError) as error:
        return error
    return None


# What PyTorch's own table of ops contains and is refused here.
UNREADABLE = {"static_runtime::clamp_nan_to_num": "two arguments have the name posinf"}


def compare_every_schema():
    """Fail unless every schema in PyTorch's table of ops is read alike; returns how many there are."""
    schemas = pt._C._jit_get_all_schemas()
    seen = set()
    for theirs in schemas:
        if theirs.name in UNREADABLE:
            assert "taken" in str(refused_by(parse_schema, str(theirs)))
            seen.add(theirs.name)
            continue
        ours = parse_schema(str(theirs))
        compare(ours, theirs)
        assert parse_schema(str(ours)) == ours
    assert seen == set(UNREADABLE)
    return len(schemas)
