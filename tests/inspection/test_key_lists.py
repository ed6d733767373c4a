"""The lists of `mindtorch keys`: a row for each key, or for each functionality."""

from itertools import groupby

import pytest

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.inspection.key_list import KeyInfo, aliases, keys
from mindtorch_core.inspection.text import alias_text, key_rows, wrapped


def test_every_key_has_a_row_of_its_own():
    head, *rows = key_rows(keys(), every=True)
    assert head == ("bit", "key", "what it is for")
    assert rows == [(str(k.bit), k.key.name, k.purpose) for k in keys()]


def test_keys_of_one_functionality_share_a_row():
    """Each functionality's keys lie side by side, so that bits from the lowest to the highest are its."""
    rows = []
    for name, found in groupby(keys(), lambda k: k.functionality):
        members = [*found]
        high, low = members[0], members[-1]
        if len(members) == 1:
            rows.append((str(high.bit), high.key.name, high.purpose))
        else:
            bits, ends = f"{low.bit}-{high.bit}", f"{high.key.name} ... {low.key.name}"
            rows.append((bits, ends, f"{name}: {high.purpose}"))
    assert key_rows(keys(), every=False)[1:] == rows
    assert ("85", "Pipeline", "deferred execution") in rows
    assert ("0-15", "Meta ... CPU", "Dense: kernels for ordinary tensors of one backend") in rows


@pytest.mark.parametrize("every", [True, False])
def test_an_alias_is_written_with_its_members(every):
    known = {k.key: k.functionality for k in keys()}
    text = alias_text(keys(), aliases(), every=every)
    assert text[:2] == ["Aliases, which stand for runtime keys at registration", ""]
    said = "\n".join(text[2:])
    for alias in aliases():
        if every:
            members = [m.name for m in alias.members]
        else:
            members = []
            for family in dict.fromkeys(known[m] for m in alias.members):
                whole = {k for k, f in known.items() if f == family}
                absent = sorted(k.name for k in whole - set(alias.members))
                alone = {k.name for k in whole} == {family}
                but = f" but {' and '.join(absent)}" if absent else ""
                members.append(family if alone else f"every {family} key{but}")
        lines = [*wrapped(f"{alias.key.name}: {alias.purpose}"), *wrapped(", ".join(members), 2)]
        assert "\n".join(lines) in said


def test_two_keys_of_a_functionality_are_a_range():
    two = [KeyInfo(DispatchKey.CPU, 4, "F", "for both"), KeyInfo(DispatchKey.Meta, 3, "F", "?")]
    assert key_rows(two, every=False)[1:] == [("3-4", "CPU ... Meta", "F: for both")]
    assert key_rows(two[:1], every=False)[1:] == [("4", "CPU", "for both")]
