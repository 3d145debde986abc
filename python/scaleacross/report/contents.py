# SPDX-License-Identifier: GPL-2.0-only
"""What the page says: texts, tables and charts of a source. Figures are the database's; sentences
are those that the search has stored, word for word."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import shlex
from typing import Any

from scaleacross.database import CLASSES
from scaleacross.report import charts
from scaleacross.report.source import Source, changes_of, effects_of, family_of, is_answered
from scaleacross.report.tables import Column, Table, table
from scaleacross.report.words import (amount, count, crossing, missing, percent, probability, rate,
                                      seconds, share, significant)

# Sentences of an explanation that have a section of their own, by how they begin; the others are
# about how sure the answer is.
SECTIONS = {"Best": "best", "Across buildings": "time", "Communication": "time",
            "Pipeline bubble": "time", "Stages": "places", "Links, the fullest of each kind": "links",
            "Baseline": "baselines", "All GPUs in one building": "baselines"}
CROSSES = {"dp": "data", "pp": "pipeline", "tp": "tensor", "cp": "context", "ep": "expert"}
UNDECIDED = "Placement does not decide here"
LINKS_DRAWN = 20
RUNS_DRAWN = 30


@dataclasses.dataclass
class Section:
    id: str
    title: str
    lead: str = ""
    lines: list[str] = dataclasses.field(default_factory=list)
    image: str = ""
    chart: str = ""  # name of one of the page's charts
    tables: list[Table] = dataclasses.field(default_factory=list)
    folded: list[tuple[str, Table]] = dataclasses.field(default_factory=list)
    text: str = ""  # preformatted
    download: tuple[str, str] | None = None  # name, link
    wide: bool = True


@dataclasses.dataclass
class Page:
    title: str
    subtitle: str
    headline: str
    plan: str
    answer: list[str]
    sure: list[tuple[str, str, str]]  # figure, what it is of, tone
    figures: list[tuple[str, str]]
    sections: list[Section]
    charts: dict[str, Any]
    note: str = ""


def sections_of(explanation: str) -> dict[str, list[str]]:
    """The sentences of an explanation by where they stand."""
    found: dict[str, list[str]] = {"best": [], "time": [], "places": [], "links": [],
                                   "baselines": [], "sure": []}
    for line in explanation.splitlines():
        for begin, section in SECTIONS.items():
            if re.match(rf"{begin}\b", line):
                found[section].append(line)
                break
        else:
            if line:
                found["sure"].append(line)
    return found


# ---- runs ----

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
    if abs(whole) < 0.5e-12:
        return "as long"

    def change(value):
        return f"{seconds(abs(value))} {'more' if value > 0 else 'less'}"

    largest = max(map(abs, parts.values()))
    main = {name: value for name, value in parts.items() if value and abs(value) >= largest / 10}
    texts = [f"{name.replace('_', ' ')} {change(value)}"
             for name, value in sorted(main.items(), key=lambda one: -abs(one[1]))]
    rest = round(whole - sum(main.values()), 12)  # the program counts picoseconds
    if rest:
        texts.append(f"the rest {change(rest)}")
    return f"{change(whole)}: {', '.join(texts)}"


def differs_text(fields: dict[str, list[Any]]) -> str:
    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return ", ".join(f"{name} {text(own)} ({text(best)})" for name, (own, best) in fields.items())


def gpu_hours(value: float) -> str:
    return count(value) if value >= 9999.5 else significant(value)


# ---- sections ----

def places_of(source: Source, lines: list[str]) -> dict[str, tuple[list[int], list[int], int]]:
    """Stages, their layers and the sum of these by building, from the sentence that says so. Empty
    where names are such that it cannot be read."""
    found = {}
    for part in (lines[0].removeprefix("Stages: ").removesuffix(".").split("; ") if lines else []):
        match = re.fullmatch(r"(.+?)(?: each have| has) stages? (.+?) with (\d+) layers?"
                             r"(?: \((.+)\))?", part)
        if not match:
            return {}
        stages = [stage for first, last in re.findall(r"(\d+)(?: to (\d+))?", match[2])
                  for stage in range(int(first), int(last or first) + 1)]
        layers = [int(one) for times, one in re.findall(r"(?:(\d+) x )?(\d+)", match[4] or match[3])
                  for _ in range(int(times or 1))]
        if len(layers) != len(stages):
            return {}
        for name in source.buildings:
            if re.search(rf"(^|, | and ){re.escape(name)}(, | and |$)", match[1]):
                found[name] = (stages, layers, int(match[3]))
    return found if len(found) == len(source.buildings) else {}


def runs_text(values: list[int]) -> str:
    """0 to 3, 6."""
    groups: list[list[int]] = []
    for value in values:
        if groups and groups[-1][-1] == value - 1:
            groups[-1].append(value)
        else:
            groups.append([value])
    return ", ".join(f"{group[0]} to {group[-1]}" if len(group) > 1 else f"{group[0]}"
                     for group in groups)


def places_section(source: Source, lines: list[str], page_charts: dict[str, Any]) -> Section:
    places = places_of(source, lines)
    memory = source.memory.to_dict("records")
    section = Section("places", "What sits where", lines=lines, wide=False,
                      lead="Memory of a GPU by pipeline stage, of the best plan, and what the stage may "
                           "fill.")
    bars = []
    layers_of = {stage: layers for stages, all_layers, _ in places.values()
                 for stage, layers in zip(stages, all_layers)}
    for row in memory:
        stage = row["stage"]
        where = [name for name, (stages, _, _) in places.items() if stage in stages]
        values = {name: row[name] for name in charts.CATEGORIES}
        used = sum(values.values())
        tips = {}
        for name, value in values.items():
            tips[name] = {charts.CATEGORIES[name][0]: amount(value), "of the stage": amount(used)}
            if not missing(row["usable"]):
                tips[name]["usable"] = amount(row["usable"])
            if where:
                tips[name]["layers"] = str(layers_of[stage])
                tips[name]["in"] = ", ".join(where)
        note = f"{layers_of[stage]} layers · {', '.join(where)}" if where else ""
        bars.append({"name": f"stage {stage}", "note": note, "values": values, "tip": tips,
                     "total": amount(used) + ("" if missing(row["usable"])
                                              else f" of {amount(row['usable'])}"),
                     "limit": None if missing(row["usable"]) else row["usable"]})
    if bars:
        page_charts["memory"] = charts.stacked("Memory by pipeline stage", bars, charts.CATEGORIES,
                                               "GiB", 2**30, room=150)
        section.chart = "memory"
    if places:
        used = {row["stage"]: sum(row[name] for name in charts.CATEGORIES) for row in memory}
        gpus = [building["gpus"] for building in json.loads(source.scenario)["cluster"]["buildings"]]
        rows = [{"building": name, "gpus": gpus[n], "stages": runs_text(places[name][0]),
                 "layers": places[name][2],
                 "fullest": max((used.get(stage, 0) for stage in places[name][0]), default=None)}
                for n, name in enumerate(source.buildings)]
        section.tables.append(table("places", [
            Column("building", "building"), Column("gpus", "GPUs", count, True),
            Column("stages", "stages"), Column("layers", "layers", str, True),
            Column("fullest", "fullest stage", amount, True)], rows))
    if memory:
        section.folded.append(("memory by stage", table("memory", [
            Column("stage", "stage"), *(Column(name, title, amount, True)
                                        for name, (title, _, _) in charts.CATEGORIES.items()),
            Column("usable", "usable", amount, True)], memory)))
    return section


def kind_of(link: dict[str, Any]) -> str:
    if not link["shared"]:
        return "port"
    inside = re.search(r" (leaf|zone|NIC|scale-up) (out|in|up|down|link)$", link["name"])
    return "building" if inside else "span"


def links_section(source: Source, lines: list[str], page_charts: dict[str, Any]) -> Section | None:
    links = [{**link, "kind": kind_of(link)} for link in source.links.to_dict("records")]
    if not links:
        return None
    spans = [link for link in links if link["kind"] == "span"][:LINKS_DRAWN]
    # Of the many ports the fullest of each kind in each building.
    fullest: dict[str, dict[str, Any]] = {}
    for link in sorted((one for one in links if one["kind"] != "span"),
                       key=lambda link: -link["busy"]):
        fullest.setdefault(re.sub(r"^stage \d+ (in )?", "", link["name"]), link)
    drawn = sorted(spans + list(fullest.values())[:LINKS_DRAWN], key=lambda link: -link["busy"])
    page_charts["links"] = charts.bars("How busy links are", [
        {"name": link["name"], "kind": link["kind"], "busy": link["busy"],
         "total": percent(link["busy"]),
         "tip": {"title": link["name"], "busy": share(link["busy"]),
                 "bytes": amount(link["bytes"]), "capacity": rate(link["capacity_bps"])}}
        for link in drawn])
    titles = {kind: words[0] for kind, words in charts.KINDS.items()}
    shown = table("links", [
        Column("name", "link"), Column("kind", "kind", lambda kind: titles[kind]),
        Column("busy", "busy", share, True),
        Column("bytes", "bytes of an iteration", amount, True),
        Column("capacity_bps", "capacity", rate, True)], links)
    return Section("links", "Load of links and spans", lines=lines, chart="links",
                   lead="Of the best plan: the spans between buildings, the links inside them, and of "
                        "the ports of GPUs the fullest of each kind.", folded=[(f"all {len(links)} links", shown)])


def ranking_table(source: Source) -> Table:
    shown = source.shown
    best = shown["ranking"][0]
    rows = []
    for run in shown["ranking"]:
        same = run.get("same_as")
        rows.append({**run, "label": run["plan"]["label"],
                     "fastest": f"as {same}" if same else probability(run["probability_best"])
                     if not missing(run["probability_best"]) else None,
                     "front": "yes" if run["pareto"] else None,
                     "exposed": run["exposed_comm_s"] / run["iteration_time_s"],
                     "what_differs": "the best" if run is best
                     else differs_text(run.get("differs", {})),
                     "what_follows": None if run is best else because_text(run, best)})
    return table("plans", [
        Column("rank", "#"), Column("label", "plan"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("exposed", "exposed", percent, True),
        Column("bubble_fraction", "bubble", percent, True),
        Column("memory_bytes_max", "memory", amount, True),
        Column("cross_building_bytes", "across buildings", amount, True),
        Column("gpu_hours", "GPU-hours", gpu_hours, True),
        Column("cost", "cost", significant, True),
        Column("fastest", "fastest", str, True), Column("front", "on the front", str, True),
        Column("what_differs", "differs from the best (its value)"),
        Column("what_follows", "which times follow")], rows,
        also=["exposed_comm_s", "compute_s", "bubble_s", "probability_best", "probability_slower"])


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
                     "probability_slower": run.get("probability_slower"),
                     "rule": rule.get("rule"), "tunes": rule.get("tunes"),
                     "leaves": rule.get("does not touch"), "source": rule.get("source")})
    return table("baselines", [
        Column("name", "baseline"), Column("label", "its plan"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("probability_slower", "the best is faster", probability, True),
        Column("rule", "rule"), Column("tunes", "tunes"), Column("leaves", "does not touch"),
        Column("source", "source")], rows)


# ---- sweeps ----

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


def sweep_points(source: Source) -> tuple[list[str], list[dict[str, Any]]]:
    """The settings that vary, two at most, and a point for each search that belongs to them."""
    family = family_of(source.searches, source.search)
    keys = list(dict.fromkeys(key for search in family for key in effects_of(search)))
    varying = [key for key in keys
               if len({setting_of(search, key) for search in family} - {None}) > 1][-2:]
    held = [key for key in keys if key not in varying]
    points = []
    for search in family:
        at = {key: setting_of(search, key) for key in varying}
        others = [setting_of(search, key) == setting_of(source.search, key) for key in held]
        if None in at.values() or not all(others):
            continue
        kept = source.plans[search["id"]]
        best = kept[kept["best_of_crossing"] == 1].sort_values("iteration_time_s")
        line = next((line for line in search["explanation"].splitlines()
                     if line.startswith("Placement:")), "")
        likely = re.search(r", ((?:over |under )?\d+ %) likely", line)
        points.append({"search": search["id"], "at": at, "best": best.to_dict("records"),
                       "told": UNDECIDED not in line, "sure": likely[1] if likely else "–"})
    return varying, points if len(points) > 1 else []


def margin_of(best: list[dict[str, Any]]) -> float | None:
    return best[1]["iteration_time_s"] / best[0]["iteration_time_s"] - 1 if len(best) > 1 else None


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
    rows = []
    for point in points:
        best = point["best"]
        rows.append({**point["at"], "search": point["search"],
                     **{f"{row['crossing']}_s": row["iteration_time_s"] for row in best},
                     "wins": crossing(best[0]["crossing"]) if best else "none",
                     "margin": margin_of(best), "sure": point["sure"] if len(best) > 1 else None,
                     "label": best[0]["label"] if best else None})
    rows.sort(key=lambda row: [order_of(row[key]) for key in varying])
    section = Section("sweep", f"Over {' and '.join(varying)}", tables=[table("sweep", [
        *(Column(key, key) for key in varying),
        *(Column(f"{word}_s", crossing(word), seconds, True) for word in placed),
        Column("wins", "wins"), Column("margin", "margin", percent, True),
        Column("sure", "sure", str, True), Column("label", "best plan")], rows, also=["search"])],
        chart="sweep")
    names = [crossing(word) for word in placed]
    if len(varying) == 1:
        key = varying[0]
        longest = max(row["iteration_time_s"] for point in points for row in point["best"])
        unit, scale = ("ms", 1e-3) if longest < 1 else ("s", 1.0)
        drawn = [{"value": point["at"][key], "crossing": crossing(row["crossing"]),
                  "time": row["iteration_time_s"] / scale,
                  "tip": {"title": f"{crossing(row['crossing'])} at {point['at'][key]}",
                          "iteration": seconds(row["iteration_time_s"]), "plan": row["label"],
                          **({"wins by": percent(margin_of(point["best"])), "sure": point["sure"]}
                             if row is point["best"][0] and len(point["best"]) > 1 else {})}}
                 for point in points for row in point["best"]]
        drawn.sort(key=lambda point: order_of(point["value"]))
        page_charts["sweep"] = charts.curve("Iteration time of the best plan of each placement", key,
                                            values[0], names, drawn, unit)
        section.lines = [winners_text(
            key, values[0],
            {point["at"][key]: crossing(point["best"][0]["crossing"])
             for point in points if point["best"]},
            {point["at"][key]: point["told"] for point in points})]
        section.lead = "The best plan of each placement, everything else chosen anew at every value."
    else:
        down, right = varying
        cells = []
        for point in points:
            best, margin = point["best"], margin_of(point["best"])
            if best:
                cells.append({
                    "down": point["at"][down], "right": point["at"][right],
                    "crossing": crossing(best[0]["crossing"]), "told": point["told"],
                    "text": crossing(best[0]["crossing"]) + "\n" + (
                        "alone" if margin is None else percent(margin)),
                    "tip": {"title": f"{down}={point['at'][down]}, {right}={point['at'][right]}",
                            **{crossing(row["crossing"]): seconds(row["iteration_time_s"])
                               for row in best},
                            "sure": point["sure"], "best plan": best[0]["label"]}})
        page_charts["sweep"] = charts.grid("Which placement wins", down, right,
                                           (values[0], values[1]), names, cells)
        section.lead = ("Which placement wins, and by how much the best plan of the next takes "
                        "longer; pale where the model does not tell the two apart.")
    return section


# ---- provenance ----

def command_of(source: Source) -> str:
    """What makes this search anew; the study file itself is not in the database."""
    search = source.search
    words = ["./scaleacross", "explore", "STUDY", "--db", source.name]
    for key, value in changes_of(search).items():
        words += ["--set", f"{key}={value}"]
    for option, column, default in (("--seed", "seed", None), ("--keep", "keep", 100),
                                    ("--objective", "objective", "time"),
                                    ("--pareto", "pareto_of", "none"), ("--gap", "gap_asked", 0)):
        if not missing(search[column]) and search[column] != default:
            value = search[column]
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    if search["method"] == "exhaustive":
        words.append("--exhaustive")
    if not missing(search["shard"]):
        words += ["--shard", f"{search['shard']:g}/{search['shards']:g}"]
    return shlex.join(words)


def provenance_section(source: Source) -> Section:
    runs = source.runs
    if source.search is not None:
        runs = runs[runs["run_id"].isin(source.plans[source.search["id"]]["run_id"])]

    def all_of(column):
        return ", ".join(str(value) for value in runs[column].dropna().unique())

    facts: list[tuple[str, Any]] = [("database", source.name)]
    if source.search is not None:
        search = source.search
        facts += [("study", search["study"]),
                  ("changed by --set or --sweep", search["changes"] or "nothing"),
                  ("search", f"{search['id']} of {len(source.searches)} in the database"),
                  ("command", command_of(source)),
                  ("engine", f"{search['engine']} ({search['options']})"),
                  ("method", search["method"]), ("objective", search["objective"]),
                  ("space", search["space"]),
                  ("seed", "none: this engine draws nothing" if missing(search["seed"])
                   else f"{search['seed']:g}"),
                  ("begun (UTC)", search["created_at"]), ("last worked on (UTC)",
                                                          search["updated_at"]),
                  ("computed for", seconds(search["seconds"])),
                  ("fingerprint of the model", search["fingerprint"])]
    else:
        facts += [("engine", all_of("engine")), ("options", all_of("options")),
                  ("seed", all_of("seed") or "none: this engine draws nothing"),
                  ("computed (UTC)", " to ".join(dict.fromkeys([runs["created_at"].min(),
                                                                 runs["created_at"].max()]))),
                  ("fingerprint of the model", all_of("fingerprint"))]
    facts += [("version", all_of("program_version")), ("commit", all_of("git_commit"))]
    rows = [{"what": what, "value": str(value)} for what, value in facts
            if not missing(value) and value != ""]
    searches = table("searches", [
        Column("id", "search"), Column("study", "study"), Column("changes", "changed"),
        Column("engine", "engine"), Column("plans", "combinations", count, True),
        Column("finished", "finished", lambda finished: "yes" if finished else "no"),
        Column("updated_at", "last worked on (UTC)")], source.searches.to_dict("records"))
    folded = [("searches in this database", searches)] if len(source.searches) > 1 else []
    link = "data:application/json;base64," + base64.b64encode(source.scenario.encode()).decode()
    return Section("provenance", "Where this comes from", tables=[table("provenance", [
        Column("what", ""), Column("value", "")], rows)], folded=folded,
        lead="The scenario below is what was computed, presets written out and buildings called by "
             "number; it runs as a study.",
        text=json.dumps(json.loads(source.scenario), indent=1), download=("scenario.json", link))


# ---- pages ----

def subtitle_of(source: Source) -> str:
    buildings = json.loads(source.scenario)["cluster"]["buildings"]
    gpus = [building["gpus"] for building in buildings]
    text = f"{count(sum(gpus))} GPUs in {len(gpus)} building{'s' if len(gpus) > 1 else ''}"
    if len(gpus) > 1:
        text += f": {', '.join(f'{name} {count(n)}' for name, n in zip(source.buildings, gpus))}"
    changed = effects_of(source.search) if source.search is not None else {}
    return text + "".join(f" · {key}={value}" for key, value in changed.items())


def fabric_section(source: Source) -> Section:
    section = Section("fabric", "The fabric", wide=False)
    if source.fabric is None:
        section.lead = f"The program does not draw it: {source.fabric_refused}"
    else:
        section.image = "data:image/svg+xml;base64," + base64.b64encode(
            source.fabric.encode()).decode()
    return section


def figures_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    figures = [("iteration", seconds(run["iteration_time_s"])), ("MFU", percent(run["mfu"])),
               ("exposed communication", seconds(run["exposed_comm_s"])),
               ("pipeline bubble", percent(run["bubble_fraction"])),
               ("memory, fullest stage", amount(run["memory_bytes_max"])),
               ("across buildings", amount(run["cross_building_bytes"]))]
    if not missing(run.get("gpu_hours")):
        figures.append(("GPU-hours", gpu_hours(run["gpu_hours"])))
    return figures


def sure_of(source: Source, lines: list[str]) -> list[tuple[str, str, str]]:
    search = source.search
    assert search is not None
    tiles = []
    placement = next((line for line in lines if line.startswith("Placement:")), "")
    likely = re.search(r", ((?:over |under )?\d+ %) likely", placement)
    if likely:
        told = UNDECIDED not in placement
        tiles.append((likely[1], "sure that the placement is the faster one" if told else
                      "sure of the placement: it does not decide here", "good" if told else "weak"))
    best = source.shown["ranking"][0]
    if not missing(best["probability_best"]):
        value = best["probability_best"]
        tiles.append((probability(value), "sure that this plan is the fastest of all that are kept",
                      "good" if not missing(search["sure"]) and value >= search["sure"] else "weak"))
    if not missing(search["time_error_mean"]):
        tiles.append((share(search["time_error_mean"]),
                      f"mean error of times, {share(abs(search['time_error_worst']))} at most, on "
                      f"{search['time_error_runs']:g} published runs "
                      f"({search['time_error_kind']})", "plain"))
    elif is_answered(search):
        tiles.append(("unknown", "how far times are off: no published runs of this kind", "weak"))
    if not is_answered(search):
        tiles.append(("not finished", "the best so far; the same ./scaleacross explore goes on",
                      "weak"))
    elif not missing(search["gap"]):
        proven = search["gap"] == 0
        tiles.append(("proven" if proven else f"within {share(search['gap'])}",
                      f"{'optimal' if proven else 'of optimal'} for the {search['engine']} engine",
                      "good" if proven else "weak"))
    return tiles


def headline_of(source: Source, best_line: str) -> str:
    """Begins with what to do, and goes on with the search's own figures."""
    best = source.shown["ranking"][0]
    label = best["plan"]["label"]
    prefix = f"Best: {label}: "
    said = best_line.removeprefix(prefix) if best_line.startswith(prefix) else \
        f"{seconds(best['iteration_time_s'])} per iteration, MFU {percent(best['mfu'])}."
    across = source.plans[source.search["id"]].iloc[0]["crossing"]
    start = "" if is_answered(source.search) else "So far: "
    if len(source.buildings) == 1:
        return f"{start}{said[0].upper()}{said[1:]}"
    return (f"{start}Let {CROSSES.get(across, across)} parallelism cross the buildings "
            f"({crossing(across)}): {said}")


def search_page(source: Source) -> Page:
    search, shown = source.search, source.shown
    said = sections_of("" if missing(search["explanation"]) else search["explanation"])
    page_charts: dict[str, Any] = {}
    sweep = sweep_section(source, page_charts)
    ranking = shown["ranking"]
    sections = [fabric_section(source)]
    rejected = [row for row in source.rejections.to_dict("records")]
    # What is said of the placement is part of the answer.
    caveats = Section("caveats", "Caveats", lines=[line for line in said["sure"]
                                                   if not line.startswith("Placement:")])
    caveats.lines += [line for line in (ranking[0]["warnings"] if ranking else [])]
    if not missing(search["shard"]):
        caveats.lines.append("A shard: merge puts it together with the others, and explore answers.")
    if rejected:
        caveats.folded.append(("plans that were not ranked", table("not-ranked", [
            Column("outcome", "outcome"), Column("reason", "reason"),
            Column("count", "plans", count, True), Column("example", "for example")], rejected)))
    named = [(str(run["rank"]), run) for run in ranking]
    others = [(name, run) for name, run in shown["baselines"].items() if "iteration_time_s" in run]
    if shown["one_site"] and "iteration_time_s" in shown["one_site"]:
        others.append(("one-site", shown["one_site"]))
    checks = [(f"by {run['engine']}", run) for run in shown["checks"] if "iteration_time_s" in run]
    everything = named + others + checks
    if everything:
        page_charts["times"] = time_chart([bar_of(f"#{name}" if name.isdigit() else name, run)
                                           for name, run in everything])
        sections.append(Section(
            "times", "Where the time goes", chart="times", lines=said["time"],
            lead="The best plans, the baselines and checks by other engines. Parts are means over "
                 "the ranks; communication that is hidden behind compute is not drawn.",
            folded=[("times of all of these", time_table(everything))]))
    if sweep:
        sections.append(sweep)
    if ranking:
        sections.insert(1, places_section(source, said["places"], page_charts))
        sections.append(Section("plans", "The best plans", tables=[ranking_table(source)],
                                lead=f"The best {len(ranking)} of {count(shown['plans'])} distinct "
                                     "plans, and what makes the others slower."
                                if len(ranking) > 1 else ""))
    if shown["baselines"] or shown["one_site"]:
        sections.append(Section("baselines", "Baselines", lines=said["baselines"],
                                tables=[baselines_table(source)],
                                lead="Schools of planning, each tuned as well as the search itself."))
    links = links_section(source, said["links"], page_charts)
    sections += [one for one in (links, caveats if caveats.lines or caveats.folded else None,
                                 provenance_section(source)) if one]
    page = Page(search["study"], subtitle_of(source), "", "", [], [], [], sections, page_charts)
    if ranking:
        best_line = said["best"][0] if said["best"] else ""
        page.headline = headline_of(source, best_line)
        page.plan = ranking[0]["plan"]["label"]
        page.sure = sure_of(source, said["sure"])
        page.figures = figures_of(ranking[0])
        page.answer = [line for line in said["sure"] if line.startswith("Placement:")]
        page.answer += [line for line in said["baselines"] if ": the best takes " in line]
        if sweep:
            page.answer += sweep.lines
        if len(source.searches) > 1:
            page.note = (f"This is search {search['id']} of {len(source.searches)} in "
                         f"{source.name}; --search N shows another. They are listed below.")
    else:
        page.headline = "No plan can run." if search["finished"] == 1 else "Nothing has run yet."
        page.answer = list(said["sure"])
    return page


def run_of(source: Source, row: dict[str, Any]) -> dict[str, Any]:
    """A stored run as `show --json` has those of a search."""
    own = source.classes[source.classes["run_id"] == row["run_id"]].set_index("class")
    return {**row, "plan": {"label": row["label"]}, "classes": own.to_dict("index")}


def runs_page(source: Source) -> Page:
    """Of a database that holds runs and no search."""
    rows = source.runs.to_dict("records")
    good = sorted((row for row in rows if row["status"] == "ok"),
                  key=lambda row: row["iteration_time_s"])
    bad = [row for row in rows if row["status"] != "ok"]
    page_charts: dict[str, Any] = {}
    sections = [fabric_section(source)]
    page = Page(source.name.removesuffix(".db"), subtitle_of(source), "", "", [], [], [], sections,
                page_charts)
    if good:
        best = good[0]
        page.headline = (f"{seconds(best['iteration_time_s'])} per iteration, MFU "
                         f"{percent(best['mfu'])}, by the {best['engine']} engine.")
        page.plan = best["label"]
        page.figures = figures_of(best)
        page.sure = [("not searched", "a run of a given plan: it says nothing of other plans",
                      "plain")]
        sections.append(places_section(source, [], page_charts))
        named = [(row["engine"], run_of(source, row)) for row in good[:RUNS_DRAWN]]
        page_charts["times"] = time_chart([bar_of(name, run) for name, run in named])
        sections.append(Section("times", "Where the time goes", chart="times",
                                lead="Parts are means over the ranks; communication that is hidden "
                                     "behind compute is not drawn.",
                                folded=[("times of all of these", time_table(named))]))
        sections += [one for one in [links_section(source, [], page_charts)] if one]
    else:
        page.headline = f"No run has a result: {bad[0]['detail'] or bad[0]['reason']}"
        page.plan = bad[0]["label"]
    sections.append(Section("runs", "All runs", tables=[table("runs", [
        Column("label", "plan"), Column("engine", "engine"), Column("status", "status"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("bubble_fraction", "bubble", percent, True),
        Column("memory_bytes_max", "memory", amount, True),
        Column("cross_building_bytes", "across buildings", amount, True),
        Column("reason", "reason"), Column("detail", "detail")], good + bad,
        also=["run_id", "scenario_id", "seed", "options", "compute_s", "bubble_s",
              "exposed_comm_s"])]))
    if source.runs["scenario_id"].nunique() > 1:
        sections[-1].lead = ("These runs are of several scenarios, which their times do not "
                             "compare; what is drawn above is of the fastest.")
    sections.append(provenance_section(source))
    return page


def page_of(source: Source) -> Page:
    return runs_page(source) if source.search is None else search_page(source)
