# SPDX-License-Identifier: GPL-2.0-only
"""Which placement wins where, of searches that differ in one or two settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import UNDECIDED, Section
from scaleacross.report.source import Source, effects_of, family_of
from scaleacross.report.tables import Column, table
from scaleacross.report.words import amount, crossing, missing, percent, seconds

# What a scenario says of its spans, for a study as it is between others that were set.
SPANS = {"cluster.cross.oversubscription": ("oversubscription", "{:g}"),
         "cluster.cross.distance": ("distance_km", "{:g}km"),
         "cluster.cross.loss": ("loss", "{:g}")}


def setting_of(search: dict[str, Any], key: str) -> str | None:
    own = effects_of(search).get(key)
    if own is None and key in SPANS and not missing(search[SPANS[key][0]]):
        column, form = SPANS[key]
        own = form.format(search[column])
    return own


def order_of(value: str) -> tuple[float, str]:
    """Of values of one setting, such as 300m and 1km."""
    match = re.match(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", value, re.IGNORECASE)
    if not match:
        return float("inf"), value
    unit = value[match.end():].strip()
    scale = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "u": 1e-6, "n": 1e-9}
    prefixed = len(unit) > 1 and unit[0] in scale
    return float(match[0]) * (scale[unit[0]] if prefixed else
                              1e-3 if unit == "ms" else 1.0), unit


def figure_of(search: dict[str, Any]) -> tuple[str, str, Callable[[float], str]]:
    """What plans of a search are ordered by: its column, the end of its name, and how it is said.
    GPU-hours and cost go by the time, on the same GPUs."""
    columns = {"memory": "memory_bytes_max", "bytes": "cross_building_bytes"}
    column = columns.get(search["objective"])
    return (column, "bytes", amount) if column else ("iteration_time_s", "s", seconds)


def sweep_points(source: Source) -> tuple[list[str], list[dict[str, Any]]]:
    """The settings that vary, two at most, and a point for each search that belongs to them."""
    family = family_of(source.searches, source.search)
    keys = list(dict.fromkeys(key for search in family for key in effects_of(search)))
    varying = [key for key in keys
               if len({setting_of(search, key) for search in family} - {None}) > 1][-2:]
    held = [key for key in keys if key not in varying]
    # Of several at one setting the one that is shown, else the newest.
    family.sort(key=lambda row: (row["id"] == source.search["id"], row["updated_at"], row["id"]))
    points: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for search in family:
        at = {key: setting_of(search, key) for key in varying}
        others = [setting_of(search, key) == setting_of(source.search, key) for key in held]
        if None in at.values() or not all(others):
            continue
        kept = source.plans[search["id"]]
        best = kept[kept["best_of_crossing"] == 1].sort_values(
            [figure_of(search)[0], "iteration_time_s"])
        line = next((line for line in search["explanation"].splitlines()
                     if line.startswith("Placement:")), "")
        likely = re.search(r", ((?:over |under )?\d+ %) likely", line)
        points[tuple(at.values())] = {
            "search": search["id"], "at": at, "best": best.to_dict("records"),
            "told": UNDECIDED not in line, "sure": likely[1] if likely else "–"}
    return varying, list(points.values()) if len(points) > 1 else []


def margin_of(best: list[dict[str, Any]], figure: str) -> float | None:
    """None also where the least is nothing, of which nothing is a part."""
    return best[1][figure] / best[0][figure] - 1 if len(best) > 1 and best[0][figure] else None


def winners_text(key: str, values: list[str], winner: dict[str, str], told: dict[str, bool]) -> str:
    """Between which values the winner changes."""
    won = [value for value in values if value in winner]
    flips = [f"from {winner[before]} to {winner[after]} between {before} and {after}" +
             ("" if told[before] or told[after] else " (not told apart on either side)")
             for before, after in zip(won, won[1:]) if winner[before] != winner[after]]
    if not flips:
        return f"{winner[won[0]]} wins at every value of {key}." if won else ""
    return f"Over {key} the best placement changes {', and '.join(flips)}."


def sweep_section(source: Source, page_charts: dict[str, Any]) -> Section | None:
    varying, points = sweep_points(source)
    if not points:
        return None
    placed = sorted({row["crossing"] for point in points for row in point["best"]})
    values = [sorted({point["at"][key] for point in points}, key=order_of) for key in varying]
    figure, unit_of, say = figure_of(source.search)
    rows = []
    for point in points:
        best = point["best"]
        rows.append({**point["at"], "search": point["search"],
                     **{f"{row['crossing']}_{unit_of}": row[figure] for row in best},
                     "wins": crossing(best[0]["crossing"]) if best else "none",
                     "margin": margin_of(best, figure),
                     "sure": point["sure"] if len(best) > 1 else None,
                     "label": best[0]["label"] if best else None})
    rows.sort(key=lambda row: [order_of(row[key]) for key in varying])
    section = Section("sweep", f"Over {' and '.join(varying)}", tables=[table("sweep", [
        *(Column(key, key) for key in varying),
        *(Column(f"{word}_{unit_of}", crossing(word), say, True) for word in placed),
        Column("wins", "wins"), Column("margin", "margin", percent, True),
        Column("sure", "sure", str, True), Column("label", "best plan")], rows, also=["search"])],
        chart="sweep")
    names = [crossing(word) for word in placed]
    if len(varying) == 1:
        key = varying[0]
        longest = max((row["iteration_time_s"] for point in points for row in point["best"]),
                      default=0)
        unit, scale = ("ms", 1e-3) if longest < 1 else ("s", 1.0)
        drawn = [{"value": point["at"][key], "crossing": crossing(row["crossing"]),
                  "time": row["iteration_time_s"] / scale,
                  "tip": {"title": f"{crossing(row['crossing'])} at {point['at'][key]}",
                          "iteration": seconds(row["iteration_time_s"]), "plan": row["label"],
                          **({"wins by": percent(margin_of(point["best"], figure) or 0.0),
                              "sure": point["sure"]}
                             if row is point["best"][0] and len(point["best"]) > 1 else {})}}
                 for point in points for row in point["best"]]
        drawn.sort(key=lambda point: order_of(point["value"]))
        page_charts["sweep"] = charts.curve("Iteration time of the best plan of each placement", key,
                                            values[0], names, drawn, unit)
        text = winners_text(
            key, values[0],
            {point["at"][key]: crossing(point["best"][0]["crossing"])
             for point in points if point["best"]},
            {point["at"][key]: point["told"] for point in points})
        section.lines = [text] if text else []
        section.lead = "The best plan of each placement, everything else chosen anew at every value."
    else:
        down, right = varying
        cells = []
        for point in points:
            best, margin = point["best"], margin_of(point["best"], figure)
            if best:
                cells.append({
                    "down": point["at"][down], "right": point["at"][right],
                    "crossing": crossing(best[0]["crossing"]), "told": point["told"],
                    "text": crossing(best[0]["crossing"]) + "\n" + (
                        "alone" if len(best) == 1 else "" if margin is None else percent(margin)),
                    "tip": {"title": f"{down}={point['at'][down]}, {right}={point['at'][right]}",
                            **{crossing(row["crossing"]): say(row[figure])
                               for row in best},
                            "sure": point["sure"], "best plan": best[0]["label"]}})
        page_charts["sweep"] = charts.grid("Which placement wins", down, right,
                                           (values[0], values[1]), names, cells)
        section.lead = ("Which placement wins, and by how much the best plan of the next takes "
                        f"{'longer' if figure == 'iteration_time_s' else 'more'}; pale "
                        "where the model does not tell the two apart.")
    if not placed or (len(varying) == 1 and figure != "iteration_time_s"):
        section.chart = ""
        del page_charts["sweep"]
    return section
