# SPDX-License-Identifier: GPL-2.0-only
"""Which placement wins where, of searches that differ in one or two settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import Section
from scaleacross.report.source import Axis, Source, Sweep
from scaleacross.report.tables import Column, table
from scaleacross.report.words import amount, crossing, missing, percent, probability, seconds


def figure_of(shown: dict[str, Any]) -> tuple[str, str, Callable[[float], str]]:
    """What plans of a search are ordered by: its column, the end of its name, and how it is said.
    GPU-hours and cost go by the time, on the same GPUs."""
    if shown["follows_time"]:
        return "iteration_time_s", "s", seconds
    return shown["objective_figure"], "bytes", amount


def is_told(search: dict[str, Any]) -> bool:
    """Whether its placements are told apart; nothing is said against it where that is not known."""
    likely = search["placement_probability"]
    return missing(likely) or missing(search["sure"]) or likely >= search["sure"]


NOTHING = "nothing crosses"


def wins_of(best: list[dict[str, Any]]) -> str:
    """The placement that wins, of the best plans of each, the best first; where that sends nothing
    between buildings none does."""
    if not best:
        return "none"
    return crossing(best[0]["crossing"]) if best[0]["cross_building_bytes"] else NOTHING


def sweep_points(source: Source, sweep: Sweep) -> list[dict[str, Any]]:
    """A point for each search, with the best plan of each placement, the best first."""
    figure = figure_of(source.shown)[0]
    points = []
    for values, search in sweep.points:
        kept = source.plans[search["id"]]
        best = kept[kept["best_of_crossing"] == 1].sort_values([figure, "iteration_time_s"])
        rows = best.to_dict("records")
        wins = wins_of(rows)
        likely = None if wins == NOTHING else search["placement_probability"]
        points.append({"search": search["id"], "best": rows, "wins": wins,
                       "at": {axis.key: value for axis, value in zip(sweep.axes, values)},
                       "told": wins == NOTHING or is_told(search),
                       "sure": None if missing(likely) else probability(likely)})
    return points


def margin_of(best: list[dict[str, Any]], figure: str) -> float | None:
    """None also where the least is nothing, of which nothing is a part."""
    return best[1][figure] / best[0][figure] - 1 if len(best) > 1 and best[0][figure] else None


def winners_text(axis: Axis, winner: dict[str, str], told: dict[str, bool]) -> str:
    """Between which values the winner changes; of categories, with which values each wins."""
    won = [value for value in axis.values if value in winner]
    names = list(dict.fromkeys(winner[value] for value in won))
    if names == [NOTHING]:
        return f"Nothing crosses buildings at any value of {axis.key}."
    if NOTHING in names:
        parts = [f"{name if name == NOTHING else name + ' wins'} at "
                 f"{', '.join(value for value in won if winner[value] == name)}" for name in names]
        return f"Over {axis.key}: {'; '.join(parts)}."
    if len(names) < 2:
        return f"{names[0]} wins at every value of {axis.key}." if names else ""
    if axis.numbers is None:
        parts = [f"{name} wins with {', '.join(value for value in won if winner[value] == name)}"
                 for name in names]
        return f"Over {axis.key}: {'; '.join(parts)}."
    won.sort(key=lambda value: axis.numbers[axis.values.index(value)])
    flips = [f"from {winner[before]} to {winner[after]} between {before} and {after}" +
             ("" if told[before] or told[after] else " (not told apart on either side)")
             for before, after in zip(won, won[1:]) if winner[before] != winner[after]]
    return f"Over {axis.key} the best placement changes {', and '.join(flips)}."


def line_chart(axis: Axis, points: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """Times over the values of one setting."""
    longest = max(row["iteration_time_s"] for point in points for row in point["best"])
    unit, scale = ("ms", 1e-3) if longest < 1 else ("s", 1.0)
    drawn = []
    for point in points:
        value = point["at"][axis.key]
        for row in point["best"]:
            tip = {"title": f"{crossing(row['crossing'])} at {value}",
                   "iteration": seconds(row["iteration_time_s"]), "plan": row["label"]}
            if row is point["best"][0] and len(point["best"]) > 1 and point["wins"] != NOTHING:
                tip["wins by"] = percent(margin_of(point["best"], "iteration_time_s") or 0.0)
                if point["sure"]:
                    tip["sure"] = point["sure"]
            number = axis.numbers[axis.values.index(value)] if axis.numbers else None
            drawn.append({"value": value, "number": number, "crossing": crossing(row["crossing"]),
                          "time": row["iteration_time_s"] / scale,
                          "total": seconds(row["iteration_time_s"]), "tip": tip})
    about = "Iteration time of the best plan of each placement"
    if axis.numbers is None:
        return charts.categories(about, names, drawn, unit)
    drawn.sort(key=lambda point: point["number"])
    return charts.curve(about, axis.key, axis.values, axis.numbers, names, drawn, unit)


def in_order(axis: Axis) -> list[str]:
    """Categories as they were given, others from the least on."""
    if axis.numbers is None:
        return axis.values
    return [value for _, value in sorted(zip(axis.numbers, axis.values))]


def sweep_sections(source: Source, page_charts: dict[str, Any]) -> list[Section]:
    """All sweeps that say anything of the search, the newest first."""
    return [sweep_section(source, sweep, "sweep" if n == 1 else f"sweep-{n}", page_charts)
            for n, sweep in enumerate(source.sweeps, 1)]


def sweep_section(source: Source, sweep: Sweep, name: str, page_charts: dict[str, Any]) -> Section:
    axes, points = sweep.axes, sweep_points(source, sweep)
    placed = sorted({row["crossing"] for point in points for row in point["best"]})
    figure, unit_of, say = figure_of(source.shown)
    rows = []
    for point in points:
        best = point["best"]
        rows.append({**point["at"], "search": point["search"],
                     **{f"{row['crossing']}_{unit_of}": row[figure] for row in best},
                     "wins": point["wins"],
                     "margin": None if point["wins"] == NOTHING else margin_of(best, figure),
                     "sure": point["sure"] if len(best) > 1 else None,
                     "label": best[0]["label"] if best else None})
    orders = [in_order(axis) for axis in axes]
    rows.sort(key=lambda row: [order.index(row[axis.key]) for axis, order in zip(axes, orders)])
    section = Section(name, f"Over {' and '.join(axis.key for axis in axes)}", tables=[
        table(name, [
            *(Column(axis.key, axis.key) for axis in axes),
            *(Column(f"{word}_{unit_of}", crossing(word), say, True) for word in placed),
            Column("wins", "wins"), Column("margin", "margin", percent, True),
            Column("sure", "sure", str, True), Column("label", "best plan")], rows,
            also=["search"])], chart=name)
    names = [crossing(word) for word in placed]
    if len(axes) == 1:
        axis = axes[0]
        if placed and figure == "iteration_time_s":
            page_charts[name] = line_chart(axis, points, names)
        text = winners_text(axis, {point["at"][axis.key]: point["wins"]
                                   for point in points if point["best"]},
                            {point["at"][axis.key]: point["told"] for point in points})
        section.lines = [text] if text else []
        section.lead = "The best plan of each placement, everything else chosen anew at every value."
        if axis.numbers is None:
            section.lead += " The values are no numbers: between two of them there is nothing."
    else:
        down, right = axes
        cells = []
        for point in points:
            best, margin = point["best"], margin_of(point["best"], figure)
            if best:
                tip = {"title": ", ".join(f"{key}={value}" for key, value in point["at"].items()),
                       **{crossing(row["crossing"]): say(row[figure]) for row in best}}
                if point["sure"]:
                    tip["sure"] = point["sure"]
                cells.append({
                    "down": point["at"][down.key], "right": point["at"][right.key],
                    "crossing": point["wins"], "told": point["told"],
                    "text": point["wins"] + "\n" + (
                        "" if point["wins"] == NOTHING else "alone" if len(best) == 1 else "" if margin is None else percent(margin)),
                    "tip": {**tip, "best plan": best[0]["label"]}})
        if placed:
            # Numbers rise as on an axis, categories are read from the top.
            upwards = orders[0] if down.numbers is not None else orders[0][::-1]
            if any(cell["crossing"] == NOTHING for cell in cells):
                names = [*names, NOTHING]
            page_charts[name] = charts.grid("Which placement wins", down.key, right.key,
                                            (upwards, orders[1]), names, cells)
        section.lead = ("Which placement wins, and by how much the best plan of the next takes "
                        f"{'longer' if figure == 'iteration_time_s' else 'more'}; pale "
                        "where the model does not tell the two apart.")
    held = ", ".join(f"{key}={value}" for key, value in sweep.held.items())
    section.lead += f" Here {held}; --search chooses a point at other values." if held else ""
    if source.search["id"] not in {point["search"] for point in points}:
        section.lead += " The study as it is, of which this page is, is none of these points."
    if name not in page_charts:
        section.chart = ""
    return section
