# SPDX-License-Identifier: GPL-2.0-only
"""Figures as the program prints them."""

from __future__ import annotations

import decimal
import math
from typing import TypeGuard

import pandas


def missing(value: object) -> TypeGuard[None]:
    """What a database or a frame has where it has nothing."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or value is pandas.NaT


def significant(value: float) -> str:
    """Four significant digits, without zeros behind them, and no powers of ten."""
    if abs(value) >= 9999.5:
        return f"{value:.0f}"
    text = f"{value:.4g}"
    return f"{decimal.Decimal(text):f}" if "e" in text else text


def seconds(value: float) -> str:
    """738.9 us, 14.17 ms, 5.738 s."""
    size = abs(value) or 1.0
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        if size * scale >= 1 - 5e-5:
            return f"{significant(value * scale)} {unit}"
    return f"{significant(value * 1e12)} ps"


def amount(value: float) -> str:
    """0 B, 508.5 MiB, 5.695 TiB."""
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    while len(units) > 1 and abs(value) >= 1023.95:
        value /= 1024
        units.pop(0)
    return f"{significant(value)} {units[0]}"


def rate(value: float) -> str:
    """6.4 Tbps."""
    for scale, unit in ((1e15, "Pbps"), (1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps")):
        if value >= scale:
            return f"{significant(value / scale)} {unit}"
    return f"{significant(value)} bps"


def percent(part: float, digits: int = 1) -> str:
    return f"{100 * part:.{digits}f} %"


def share(part: float) -> str:
    """5.06 %, 13.3 %."""
    return percent(part, 1 if abs(part) >= 0.09995 else 2)


def probability(value: float) -> str:
    points = math.floor(100 * value + 0.5)
    return "under 1 %" if points < 1 else "over 99 %" if points > 99 else f"{points} %"


def tokens_text(value: float) -> str:
    """15T, 67.11M, 4,096: as numbers of tokens are said."""
    for scale, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if value >= scale:
            return f"{significant(value / scale)}{unit}"
    return count(value)


def count(value: float) -> str:
    return f"{value:,.0f}"


def crossing(word: str) -> str:
    return f"{word.upper()}-out"


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def some_of(names: list[str], most: int = 4) -> str:
    """a, b, c, d and 28 more."""
    more = len(names) - most
    return ", ".join(names) if more < 2 else f"{', '.join(names[:most])} and {more} more"
