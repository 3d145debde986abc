# SPDX-License-Identifier: GPL-2.0-only
"""Plans beside each other: where their time goes, what differs, which times follow."""

from __future__ import annotations

from typing import Any

from scaleacross.database import CLASSES
from scaleacross.report import charts
from scaleacross.report.source import Source
from scaleacross.report.tables import Column, Table, table
from scaleacross.report.training import money, training_columns, training_values
from scaleacross.report.words import (amount, count, missing, percent, probability, seconds,
                                      significant, yes_or_no)


def times_of(run: dict[str, Any]) -> dict[str, float]:
    """Seconds of an iteration by what they go to, means over the ranks."""
    exposed = {name: run["classes"].get(name, {}).get("exposed_s", 0.0) for name in CLASSES}
    return {"compute": run["compute_s"], **exposed, "bubble": run["bubble_s"]}


def bar_of(name: str, run: dict[str, Any]) -> dict[str, Any]:
    tips = {}
    for part, value in times_of(run).items():
        tips[part] = {charts.PARTS[part][0]: seconds(value),
                      "of the iteration": percent(value / run["iteration_time_s"])}
        if part in CLASSES:
            tips[part]["busy"] = seconds(run["classes"].get(part, {}).get("busy_s", 0.0))
        tips[part]["iteration"] = seconds(run["iteration_time_s"])
        tips[part]["plan"] = run["plan"]["label"]
    return {"name": name, "note": run["plan"]["label"], "values": times_of(run), "tip": tips,
            "total": seconds(run["iteration_time_s"])}


def time_chart(bars: list[dict[str, Any]]) -> dict[str, Any]:
    longest = max(sum(bar["values"].values()) for bar in bars)
    unit, scale = ("ms", 1e-3) if longest < 1 else ("s", 1.0)
    return charts.stacked("Where the time of an iteration goes, by plan", bars, charts.PARTS,
                          f"time of one iteration ({unit})", scale)


def time_table(named: list[tuple[str, dict[str, Any]]]) -> Table:
    rows = [{"plan": name, "label": run["plan"]["label"], "engine": run["engine"],
             "iteration_time_s": run["iteration_time_s"],
             **{f"{part}_s": value for part, value in times_of(run).items()}}
            for name, run in named]
    columns = [Column("plan", ""), Column("label", "plan"), Column("engine", "engine"),
               Column("iteration_time_s", "iteration", seconds, True),
               *(Column(f"{part}_s", title, seconds, True)
                 for part, (title, _, _) in charts.PARTS.items()
                 if any(row[f"{part}_s"] for row in rows))]
    return table("times", columns, rows)


def because_text(run: dict[str, Any], best: dict[str, Any]) -> str:
    """As `show` says it: the parts of at least a tenth of the largest, the greatest first."""
    parts = run.get("because")
    if not parts:
        return ""
    whole = run["iteration_time_s"] - best["iteration_time_s"]
    rounding = max(1e-9, 1e-9 * best["iteration_time_s"]) + 0.5e-12  # IsRounding() of the program
    if abs(whole) < rounding:
        return "as long"

    def change(value):
        return f"{seconds(abs(value))} {'more' if value > 0 else 'less'}"

    largest = max(abs(value) for value in parts.values())
    main = {name: value for name, value in parts.items()
            if abs(value) >= max(rounding, largest / 10)}
    texts = [f"{name.replace('_', ' ')} {change(value)}"
             for name, value in sorted(main.items(), key=lambda one: -abs(one[1]))]
    rest = whole - sum(main.values())
    if abs(rest) >= rounding:
        texts.append(f"the rest {change(rest)}")
    return f"{change(whole)}: {', '.join(texts)}"


def differs_text(fields: dict[str, list[Any]]) -> str:
    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return ", ".join(f"{name} {text(own)} ({text(best)})" for name, (own, best) in fields.items())


def gpu_hours(value: float) -> str:
    return count(value) if value >= 9999.5 else significant(value)


def usable_of(run: dict[str, Any]) -> float | None:
    """What the fullest stage may fill; None of a run that was stored without."""
    fullest = max(run["memory"], default=None,
                  key=lambda use: sum(use[name] for name in charts.CATEGORIES))
    return fullest["usable"] or None if fullest else None


def fits_column(runs: list[dict[str, Any]]) -> Column:
    """Whether plans have the memory that they need: the title says of how much, where that is the
    same of all."""
    usable = {usable_of(run) for run in runs} - {None}
    title = f"fits in {amount(usable.pop())}" if len(usable) == 1 else "fits"
    return Column("fits", title, yes_or_no, True)


def ranking_table(source: Source) -> Table:
    shown = source.shown
    best = shown["ranking"][0]
    rows = []
    for run in shown["ranking"]:
        same = run.get("same_as")
        corrected = run.get("correction") or {}
        rows.append({**run, "label": run["plan"]["label"],
                     "fastest": f"as {same}" if same else probability(run["probability_best"])
                     if not missing(run["probability_best"]) else None,
                     "front": "yes" if run["pareto"] else None,
                     **corrected, **training_values(source.job, run),
                     "interval": f"{seconds(corrected['low_s'])} to {seconds(corrected['high_s'])}"
                     if corrected else None,
                     "usable_bytes": usable_of(run),
                     "exposed": run["exposed_comm_s"] / run["iteration_time_s"],
                     "what_differs": "the best" if run is best
                     else differs_text(run.get("differs", {})),
                     "what_follows": None if run is best else because_text(run, best)})
    return table("plans", [
        Column("rank", "#"), Column("label", "plan"),
        Column("iteration_time_s", "iteration", seconds, True),
        Column("interval", "interval of the correction", str, True),
        Column("mfu", "MFU", percent, True), Column("exposed", "exposed", percent, True),
        Column("bubble_fraction", "bubble", percent, True),
        Column("memory_bytes_max", "memory", amount, True),
        fits_column(shown["ranking"]),
        Column("cross_building_bytes", "across buildings", amount, True),
        Column("gpu_hours", "GPU-hours", gpu_hours, True),
        *(training_columns(source.job) or [Column("cost", "cost", money, True)]),
        Column("fastest", "fastest", str, True), Column("front", "on the front", str, True),
        Column("what_differs", "differs from the best (its value)"),
        Column("what_follows", "which times follow")], rows,
        also=["cost", "usable_bytes", "exposed_comm_s", "compute_s", "bubble_s", "probability_best",
              "probability_slower", "low_s", "high_s", "operations", "covered", "uncovered_share"])


def baselines_table(source: Source) -> Table:
    rules = {rule["baseline"]: rule for rule in source.baseline_rules}
    rows = []
    named = dict(source.shown["baselines"])
    if source.shown["one_site"]:
        named["one-site"] = source.shown["one_site"]
    for name, run in named.items():
        rule = rules.get(name, {})
        refused = run.get("infeasible")
        rows.append({"name": name, "label": f"none: {refused['detail'] or refused['reason']}"
                     if refused else run["plan"]["label"],
                     "iteration_time_s": run.get("iteration_time_s"), "mfu": run.get("mfu"),
                     "memory_bytes_max": run.get("memory_bytes_max"), "fits": run.get("fits"),
                     "probability_slower": run.get("probability_slower"),
                     "assumed": run.get("assumed"), "rule": rule.get("rule"), "tunes": rule.get("tunes"),
                     "leaves": rule.get("does not touch"), "source": rule.get("source")})
    return table("baselines", [
        Column("name", "baseline"), Column("label", "its plan"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("memory_bytes_max", "memory", amount, True), Column("fits", "fits", yes_or_no, True),
        Column("probability_slower", "sure that the best is faster", probability, True),
        Column("assumed", "assumed"), Column("rule", "rule"), Column("tunes", "tunes"), Column("leaves", "does not touch"),
        Column("source", "source")], rows)
