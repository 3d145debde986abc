# SPDX-License-Identifier: GPL-2.0-only
"""Numbers of tokens as users write them."""

from __future__ import annotations

UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
ALLOWED = "a number of tokens above 0 and up to 1e18, such as 15T, 300B or 2e12"


def parse_tokens(text: str) -> float:
    """15T, 1.5e13 and 15000000000000 are the same; ValueError for what is no such number."""
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    try:
        tokens = float(text[:len(text) - len(unit)]) * UNITS[unit]
    except (KeyError, ValueError):
        raise ValueError(f"'{text}' is no number of tokens; allowed is {ALLOWED}") from None
    if not 0 < tokens <= 1e18:
        raise ValueError(f"'{text}' is out of range; allowed is {ALLOWED}")
    return tokens
