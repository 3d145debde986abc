# SPDX-License-Identifier: GPL-2.0-only
"""What a search answers where it is asked for more: a Pareto front, and uncertain spans."""

from __future__ import annotations

from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import Choice, Section
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


def robust_answer(source: Source) -> dict[str, Any] | None:
    """What --robust has found, where a plan keeps a time with the probability that is asked for."""
    robust = source.shown.get("robust")
    return robust if robust and not missing(robust["best"]["quantile_s"]) else None


def nominal_name(source: Source) -> str:
    """What the best plan is called where another is the answer; "" where it is."""
    robust = robust_answer(source)
    differs = robust and robust["best"]["rank"] != robust["nominal_best"]["rank"]
    return "the best plan of the study as it is" if differs else ""


def robust_choices(robust: dict[str, Any]) -> list[Choice]:
    """The plan that keeps the least time, and beside it the best plan of the study as it is."""
    best, nominal = robust["best"], robust["nominal_best"]

    def choice(title: str, plan: dict[str, Any]) -> Choice:
        figures = [(f"p{100 * robust['quantile']:g}", "quantile_s"), ("mean", "mean_s"),
                   ("slowest", "slowest_s"), ("as the study is", "nominal_s")]
        return Choice(title, plan["label"], [(what, "none" if missing(plan[key]) else
                                              seconds(plan[key])) for what, key in figures])

    if nominal["rank"] == best["rank"]:
        return [choice("Whatever the spans turn out to be, and as the study is", best)]
    return [choice("Whatever the spans turn out to be", best),
            choice("Best as the study is", nominal)]


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
