# SPDX-License-Identifier: GPL-2.0-only
"""Vega specifications. The page gives each its width, and whether it is dark or narrow."""

from __future__ import annotations

import json
from typing import Any

# Hues of Okabe and Ito, which people with any kind of colour vision tell apart, on white and on
# nearly black.
PARTS = {
    "compute": ("compute", "#5c6670", "#9aa5b1"),
    "tp": ("exposed TP", "#e69f00", "#e69f00"),
    "ep": ("exposed EP", "#56b4e9", "#56b4e9"),
    "cp": ("exposed CP", "#009e73", "#12b886"),
    "pp": ("exposed PP", "#cc79a7", "#d987b5"),
    "dp": ("exposed DP", "#0072b2", "#3c93d6"),
    "bubble": ("bubble", "#d3d7db", "#47505a"),
}
CATEGORIES = {
    "parameters": ("parameters", "#5c6670", "#9aa5b1"),
    "gradients": ("gradients", "#cc79a7", "#d987b5"),
    "optimizer": ("optimizer", "#009e73", "#12b886"),
    "activations": ("activations", "#0072b2", "#3c93d6"),
    "gathered": ("gathered parameters", "#56b4e9", "#56b4e9"),
    "buffers": ("buffers", "#e69f00", "#e69f00"),
}
KINDS = {
    "span": ("between buildings", "#d55e00", "#f0803c"),
    "building": ("inside a building", "#0072b2", "#3c93d6"),
    "port": ("port of a GPU", "#5c6670", "#9aa5b1"),
}
PLACEMENTS = [("#0072b2", "#3c93d6"), ("#d55e00", "#f0803c"), ("#009e73", "#12b886"),
              ("#cc79a7", "#d987b5"), ("#e69f00", "#e69f00")]

INK = {"signal": "dark ? '#e6e9ec' : '#1b2127'"}
SOFT = {"signal": "dark ? '#a7b0b9' : '#56606b'"}
ROW = 46  # points that a bar takes with the text above it


def colours(scale: str, entries: list[tuple[str, str, str]]) -> dict[str, Any]:
    """A scale from names to colours, of (name, on white, on black)."""
    light = [entry[1] for entry in entries]
    dark = [entry[2] for entry in entries]
    return {"name": scale, "type": "ordinal", "domain": [entry[0] for entry in entries],
            "range": {"signal": f"dark ? {dark!r} : {light!r}"}}


def chart(about: str, **rest: Any) -> dict[str, Any]:
    return {"$schema": "https://vega.github.io/schema/vega/v5.json", "description": about,
            "autosize": {"type": "fit-x", "contains": "padding"}, "padding": 2,
            "signals": [{"name": "dark", "value": False}, {"name": "narrow", "value": False}],
            **rest}


def legend(columns: int, scale: str = "colour") -> dict[str, Any]:
    return {"fill": scale, "orient": "top", "direction": "horizontal", "symbolType": "square",
            "columns": {"signal": f"narrow ? 2 : {columns}"}, "offset": 10}


def stacked(about: str, rows: list[dict[str, Any]], parts: dict[str, tuple[str, str, str]],
            unit: str, scale: float, room: int = 76) -> dict[str, Any]:
    """Bars, each of parts, with room for texts behind them. A row has name, note (above its bar),
    values and tip (by part), total (its text), and perhaps limit, which is marked where it is near."""
    near = 2 * max(sum(row["values"].values()) for row in rows)
    bits, bars = [], []
    for index, row in enumerate(rows):
        begin = 0.0
        for part, (title, _, _) in parts.items():
            value = row["values"].get(part) or 0.0
            if value > 0:
                bits.append({"row": index, "part": title, "begin": begin / scale,
                             "end": (begin + value) / scale,
                             "tip": {"title": row["name"], **row["tip"][part]}})
            begin += value
        bars.append({"row": index, "name": row["name"], "note": row["note"], "total": row["total"],
                     "end": begin / scale,
                     "limit": row["limit"] / scale if (row.get("limit") or near) < near else None})
    shown = [part for part in parts.values() if any(bit["part"] == part[0] for bit in bits)]
    longest = max(max(bar["end"], bar["limit"] or 0) for bar in bars)
    marks = [
        {"type": "text", "from": {"data": "bars"}, "encode": {"update": {
            "x": {"value": 0}, "y": {"scale": "y", "field": "row", "offset": 9},
            "text": {"signal": "datum.name + (datum.note ? ' · ' + datum.note : '')"},
            "limit": {"signal": "width"}, "baseline": {"value": "middle"},
            "fontSize": {"value": 12}, "fill": SOFT}}},
        {"type": "rect", "name": "parts", "from": {"data": "bits"}, "encode": {"update": {
            "x": {"scale": "x", "field": "begin"}, "x2": {"scale": "x", "field": "end"},
            "y": {"scale": "y", "field": "row", "offset": 18}, "height": {"value": 20},
            "fill": {"scale": "colour", "field": "part"}, "tooltip": {"field": "tip"},
            "fillOpacity": {"value": 1}},
            "hover": {"fillOpacity": {"value": 0.75}}}},
        {"type": "text", "from": {"data": "bars"}, "encode": {"update": {
            "x": {"scale": "x", "signal": "max(datum.end, datum.limit)", "offset": 6},
            "y": {"scale": "y", "field": "row", "offset": 28}, "text": {"field": "total"},
            "baseline": {"value": "middle"}, "fontSize": {"value": 12},
            "fontWeight": {"value": 600}, "fill": INK}}},
    ]
    if any(bar["limit"] for bar in bars):
        marks.insert(2, {"type": "rule", "from": {"data": "bars"}, "encode": {"update": {
            "x": {"scale": "x", "field": "limit"}, "y": {"scale": "y", "field": "row", "offset": 14},
            "y2": {"scale": "y", "field": "row", "offset": 42}, "stroke": INK,
            "strokeWidth": {"value": 2}}}})
    return chart(
        about, height=ROW * len(rows),
        data=[{"name": "bits", "values": bits}, {"name": "bars", "values": bars}],
        scales=[{"name": "x", "domain": [0, longest],
                 "range": {"signal": f"[0, width - {room}]"}, "zero": True},
                {"name": "y", "type": "band", "domain": list(range(len(rows))), "range": "height"},
                colours("colour", shown)],
        axes=[{"orient": "bottom", "scale": "x", "title": unit, "grid": True,
               "tickCount": {"signal": "narrow ? 4 : 8"}, "zindex": 0}],
        legends=[legend(len(shown))], marks=marks)


def curve(about: str, key: str, values: list[str], numbers: list[float], crossings: list[str],
          points: list[dict[str, Any]], unit: str) -> dict[str, Any]:
    """A line per placement over the values of a setting, which lie at these numbers. A point has
    number, crossing, time, tip."""
    wide = min(numbers) > 0 and max(numbers) / min(numbers) >= 20
    said = f"{json.dumps(values)}[indexof({json.dumps(numbers)}, datum.value)]"
    entries = [(name, *PLACEMENTS[n % len(PLACEMENTS)]) for n, name in enumerate(crossings)]
    place = {"x": {"scale": "x", "field": "number"}, "y": {"scale": "y", "field": "time"}}
    return chart(
        about, height=320,
        data=[{"name": "points", "values": points}],
        scales=[{"name": "x", "type": "log" if wide else "linear", "zero": False,
                 "domain": [min(numbers), max(numbers)], "range": "width", "padding": 12},
                {"name": "y", "type": "linear", "domain": {"data": "points", "field": "time"},
                 "range": "height", "nice": True, "zero": True},
                colours("colour", entries)],
        axes=[{"orient": "bottom", "scale": "x", "title": key, "labelOverlap": "greedy",
               "values": numbers, "encode": {"labels": {"update": {"text": {"signal": said}}}}},
              {"orient": "left", "scale": "y", "title": f"iteration ({unit})", "grid": True,
               "tickCount": 6}],
        legends=[legend(len(crossings))],
        marks=[{"type": "group", "from": {"facet": {"name": "line", "data": "points",
                                                    "groupby": "crossing"}},
                "marks": [{"type": "line", "from": {"data": "line"}, "encode": {"update": {
                    **place, "stroke": {"scale": "colour", "field": "crossing"},
                    "strokeWidth": {"value": 2.5}}}}]},
               {"type": "symbol", "name": "parts", "from": {"data": "points"}, "encode": {
                   "update": {**place, "size": {"value": 90}, "tooltip": {"field": "tip"},
                              "fill": {"scale": "colour", "field": "crossing"}},
                   "hover": {"size": {"value": 180}}}}])


def categories(about: str, crossings: list[str], points: list[dict[str, Any]],
               unit: str) -> dict[str, Any]:
    """A bar per value of a setting and placement, in the order of the points: between such values
    there is nothing. A point has value, crossing, time, total (its text), tip."""
    entries = [(name, *PLACEMENTS[n % len(PLACEMENTS)]) for n, name in enumerate(crossings)]
    return level_bars(about, [{**point, "name": point["value"], "long": point["time"]}
                              for point in points], "crossing", entries, f"iteration ({unit})")


def scatter(about: str, across: str, up: str, crossings: list[str],
            points: list[dict[str, Any]]) -> dict[str, Any]:
    """Plans by two figures of which less is better. A point has x, y, crossing, tip."""
    entries = [(name, *PLACEMENTS[n % len(PLACEMENTS)]) for n, name in enumerate(crossings)]
    place = {"x": {"scale": "x", "field": "x"}, "y": {"scale": "y", "field": "y"}}

    def scale(name: str, length: str) -> dict[str, Any]:
        return {"name": name, "type": "linear", "domain": {"data": "points", "field": name},
                "range": length, "nice": True, "zero": False}

    return chart(
        about, height=320, data=[{"name": "points", "values": points}],
        scales=[scale("x", "width"), scale("y", "height"), colours("colour", entries)],
        axes=[{"orient": "bottom", "scale": "x", "title": across, "grid": True,
               "tickCount": {"signal": "narrow ? 4 : 8"}},
              {"orient": "left", "scale": "y", "title": up, "grid": True, "tickCount": 6}],
        legends=[legend(len(crossings))],
        marks=[{"type": "symbol", "name": "parts", "from": {"data": "points"}, "encode": {
            "update": {**place, "size": {"value": 90}, "tooltip": {"field": "tip"},
                       "fill": {"scale": "colour", "field": "crossing"}},
            "hover": {"size": {"value": 180}}}}])


def grid(about: str, down: str, right: str, values: tuple[list[str], list[str]],
         crossings: list[str], cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Which placement wins, pale where that is not told apart. A cell has down, right, crossing,
    text, told, tip."""
    entries = [(name, *PLACEMENTS[n % len(PLACEMENTS)]) for n, name in enumerate(crossings)]
    return chart(
        about, height=56 * len(values[0]),
        data=[{"name": "cells", "values": cells}],
        scales=[{"name": "x", "type": "band", "domain": values[1], "range": "width",
                 "padding": 0.03},
                {"name": "y", "type": "band", "domain": values[0], "range": [
                    {"signal": "height"}, 0], "padding": 0.03},
                colours("colour", entries)],
        axes=[{"orient": "bottom", "scale": "x", "title": right},
              {"orient": "left", "scale": "y", "title": down}],
        legends=[legend(len(crossings))],
        marks=[{"type": "rect", "name": "parts", "from": {"data": "cells"}, "encode": {
            "update": {"x": {"scale": "x", "field": "right"},
                       "width": {"scale": "x", "band": 1},
                       "y": {"scale": "y", "field": "down"},
                       "height": {"scale": "y", "band": 1},
                       "fill": {"scale": "colour", "field": "crossing"},
                       "fillOpacity": {"signal": "datum.told ? 0.85 : 0.3"},
                       "tooltip": {"field": "tip"}},
            "hover": {"fillOpacity": {"value": 0.6}}}},
            {"type": "text", "interactive": False, "from": {"data": "cells"}, "encode": {"update": {
                "x": {"scale": "x", "field": "right", "band": 0.5},
                "y": {"scale": "y", "field": "down", "band": 0.5},
                "text": {"field": "text"}, "lineBreak": {"value": "\n"}, "align": {"value": "center"},
                "dy": {"value": -2}, "fontSize": {"signal": "narrow ? 10 : 12"}, "fill": INK}}}])


def bars(about: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How busy links are. A row has name, kind, busy (a part of 1), total (its text), tip."""
    named = [{**row, "kind": KINDS[row["kind"]][0], "long": row["busy"]} for row in rows]
    shown = [kind for kind in KINDS.values() if any(row["kind"] == kind[0] for row in named)]
    return level_bars(about, named, "kind", shown, "busy, part of the iteration", "~%")


def level_bars(about: str, rows: list[dict[str, Any]], by: str,
               entries: list[tuple[str, str, str]], title: str, form: str = "~g") -> dict[str, Any]:
    """A bar below the name of each row, `long`, in the colour of what it is by; then its total."""
    values = [{**row, "row": index} for index, row in enumerate(rows)]
    return chart(
        about, height=34 * len(rows),
        data=[{"name": "rows", "values": values}],
        scales=[{"name": "x", "domain": [0, max(row["long"] for row in rows) or 1],
                 "range": {"signal": "[0, width - 76]"}, "zero": True},
                {"name": "y", "type": "band", "domain": list(range(len(rows))), "range": "height"},
                colours("colour", entries)],
        axes=[{"orient": "bottom", "scale": "x", "title": title,
               "format": form, "grid": True, "tickCount": {"signal": "narrow ? 4 : 8"}}],
        legends=[legend(len(entries))],
        marks=[{"type": "text", "from": {"data": "rows"}, "encode": {"update": {
            "x": {"value": 0}, "y": {"scale": "y", "field": "row", "offset": 8},
            "text": {"field": "name"}, "limit": {"signal": "width"},
            "baseline": {"value": "middle"}, "fontSize": {"value": 12}, "fill": SOFT}}},
            {"type": "rect", "name": "parts", "from": {"data": "rows"}, "encode": {"update": {
                "x": {"value": 0}, "x2": {"scale": "x", "field": "long"},
                "y": {"scale": "y", "field": "row", "offset": 16}, "height": {"value": 11},
                "fill": {"scale": "colour", "field": by}, "tooltip": {"field": "tip"},
                "fillOpacity": {"value": 1}},
                "hover": {"fillOpacity": {"value": 0.75}}}},
            {"type": "text", "from": {"data": "rows"}, "encode": {"update": {
                "x": {"scale": "x", "field": "long", "offset": 6},
                "y": {"scale": "y", "field": "row", "offset": 22}, "text": {"field": "total"},
                "baseline": {"value": "middle"}, "fontSize": {"value": 12},
                "fontWeight": {"value": 600}, "fill": INK}}}])
