# SPDX-License-Identifier: GPL-2.0-only
"""What a search answers where it is asked for more: a Pareto front, and uncertain spans."""

from __future__ import annotations

from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import Section
from scaleacross.report.source import Source
from scaleacross.report.tables import Column, table
from scaleacross.report.words import crossing, missing, percent, seconds

# In what the axes of the front are drawn, by objective: unit, and how many of the stored.
UNITS = {"time": ("s", 1.0), "memory": ("GiB", 2.0**30), "bytes": ("GiB", 2.0**30)}


def front_section(source: Source, page_charts: dict[str, Any]) -> Section | None:
    """The plans that no other beats by every objective that was asked for."""
    front = source.shown["pareto"]
    if not front:
        return None
    names = list(front[0]["values"])
    rows = [{"rank": plan["rank"], "label": plan["label"], "crossing": crossing(plan["crossing"]),
             **plan["values"], **{f"{name}_text": plan["texts"][name] for name in names}}
            for plan in front]
    section = Section("front", "Pareto front", tables=[table("front", [
        Column("rank", "#"), Column("label", "plan"), Column("crossing", "placement"),
        *(Column(f"{name}_text", name, str, True) for name in names)], rows, also=names)],
        lead=f"The {len(front)} plans of which no other plan has less of {' and of '.join(names)}, or "
             "of all of these.")
    if len(names) > 1 and len(front) > 1:
        (across, across_scale), (up, up_scale) = (
            ("ms", 1e-3) if name == "time" and max(row[name] for row in rows) < 1 else
            UNITS.get(name, ("", 1.0)) for name in names[:2])
        page_charts["front"] = charts.scatter(
            "The Pareto front", f"{names[0]} ({across})" if across else names[0],
            f"{names[1]} ({up})" if up else names[1],
            list(dict.fromkeys(sorted(row["crossing"] for row in rows))),
            [{"x": row[names[0]] / across_scale, "y": row[names[1]] / up_scale,
              "crossing": row["crossing"],
              "tip": {"title": f"#{row['rank']}", **{name: row[f"{name}_text"] for name in names},
                      "plan": row["label"]}} for row in rows])
        section.chart = "front"
    return section


def robust_section(source: Source) -> Section | None:
    """Which plan keeps the least time where the figures of spans are uncertain."""
    robust = source.shown["robust"]
    if not robust:
        return None
    name = f"p{100 * robust['quantile']:g}"
    rows = {row["rank"]: row for row in (*robust["ranking"], robust["nominal_best"])}
    plans = table("robust", [
        Column("rank", "#"), Column("label", "plan"), Column("quantile_s", name, seconds, True),
        Column("mean_s", "mean", seconds, True), Column("slowest_s", "slowest", seconds, True),
        Column("nominal_s", "as the study is", seconds, True)], list(rows.values()))
    best, nominal = robust["best"], robust["nominal_best"]
    cases = [{"case": ", ".join(f"{key} {value}" for key, value in case["at"].items()),
              "share": case["share"], "first": first, "nominal": own}
             for case, first, own in zip(robust["cases"], best["times_s"], nominal["times_s"])]
    columns = [Column("case", "case"), Column("share", "share", percent, True),
               Column("first", "#1", seconds, True)]
    if nominal["rank"] != best["rank"]:
        columns.append(Column("nominal", f"#{nominal['rank']}, best as the study is", seconds, True))
    trade = "" if missing(robust["wins"]) else f" The first wins {percent(robust['wins'])} by {name}"
    trade += "" if not trade or missing(robust["loses"]) else (
        f", and loses {percent(robust['loses'])} with the study's own values")
    return Section("robust", "Where spans are uncertain", lines=robust["explanation"], tables=[plans],
                   folded=[("all cases", table("cases", columns, cases))],
                   lead=f"{robust['compared']} plans by the time that they keep with a probability of "
                        f"{100 * robust['quantile']:g} % ({name}), over {len(cases)} cases of what the "
                        f"spans may be.{trade + '.' if trade and nominal['rank'] != best['rank'] else ''}")
