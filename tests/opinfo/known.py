"""What does not pass, with the reason: the list only shrinks.

A check that is listed here and passes is an error, so that the list stays true.
"""

# Whole ops that are not here, by the full name of the OpInfo.
MISSING: dict[str, str] = {}

# Single checks, as {op: {check: reason}}; a check's name may end in ``*``.
FAILING: dict[str, dict[str, str]] = {}


def reason_for(op, check):
    """Why a check of an op is known not to pass; None if it has to."""
    if op in MISSING:
        return MISSING[op]
    for pattern, reason in FAILING.get(op, {}).items():
        if check == pattern or (pattern.endswith("*") and check.startswith(pattern[:-1])):
            return reason
    return None
