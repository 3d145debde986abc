#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keeps what the documents say of the studies equal to what the program finds.

A figure in a document stands between two comments, `<!--=NAME-->` and `<!--/-->`. Its text follows
from claims.json, which holds what the program found; so does the picture of a study.

  claims.py --measure [STUDY...]   explores the studies anew, then as --write; takes minutes
  claims.py --write                puts what claims.json says into documents and pictures
  claims.py --check                fails where a document or a picture says something else, or where
                                   a plan that claims.json names takes another time by now
  claims.py --explore STUDY...     fails where a whole search finds something else by now
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import measuring

try:
    import study_figure
    from scaleacross import database
except ModuleNotFoundError as missing:
    print(f"claims.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

TOP = pathlib.Path(__file__).resolve().parents[1]
FACTS = TOP / "analysis" / "claims.json"
PICTURE = TOP / "analysis" / "figures" / "llama4-maverick-two-buildings.svg"
PICTURE_STUDY = "maverick"
DOCUMENTS = ["README.md", "examples/llama4-maverick-two-buildings/README.md",
             "examples/llama3-405b-two-buildings/README.md",
             "examples/llama3-405b-three-unequal-buildings/README.md",
             "examples/llama3-405b-five-buildings/README.md",
             "examples/gpt3-175b-one-building/README.md",
             "contrib/scaleacross/doc/study-file.md"]
SWEPT = "cluster.cross.oversubscription"
# Name: folder under examples/, values of the oversubscription between buildings (none: not swept),
# what else is said to explore.
STUDIES = {
    "maverick": ("llama4-maverick-two-buildings", "1,4,16,64,256", []),
    "llama": ("llama3-405b-two-buildings", "1,2.8,7,16,64", []),
    "three": ("llama3-405b-three-unequal-buildings", "1,2.8,16,64,256", []),
    "five": ("llama3-405b-five-buildings", None,
             ["--keep", 1, "--gap", "0.1%", "--set", "baselines=[]"]),
    "gpt3": ("gpt3-175b-one-building", None, ["--keep", 1]),
    "auto": ("llama4-maverick-two-buildings", None,
             ["--keep", 10, "--set", "baselines=[]", "--set", "search=auto"]),
}
# Equal but for the last bits, which differ with the compiler.
SAME = 1e-9
MARK = re.compile(r"<!--=(\S+?)-->(.*?)<!--/-->", re.DOTALL)


class ClaimError(Exception):
    """A claim that cannot be computed."""


def study_file(folder):
    return TOP / "examples" / folder / "study.yaml"


def call(program, *words):
    """The JSON that a command prints."""
    ended = subprocess.run([str(program), *map(str, words), "--json"], capture_output=True,
                           text=True, check=False)
    if ended.returncode != 0:
        raise ClaimError(f"{' '.join(map(str, words))}: {ended.stderr.strip()}")
    return json.loads(ended.stdout)


# ---- what the program finds ----

def plan_of(entry):
    """Only what it takes to run the plan again, and what it took."""
    plan = entry["plan"]
    settings = {f"plan.{key}": value for key, value in plan.items()
                if key not in ("label", "network")}
    settings.update({f"network.{key}": value for key, value in plan["network"].items()
                     if key != "tiers"})
    return {"label": plan["label"], "crossing": plan["crossing"], "mfu": entry["mfu"],
            "time": entry["iteration_time_s"], "settings": settings,
            **{key: entry[key] for key in ("probability_slower", "probability_best")
               if key in entry}}


def placements_of(found):
    return {crossing: plan_of(entry) for crossing, entry in found["placements"].items() if entry}


def answer_of(found):
    """What the documents need of an answer of explore."""
    names = ("combinations", "space", "ran", "pruned", "rejected", "failed", "optimal",
             "gap", "bound_slack", "sure", "time_error")
    answer = {name: found[name] for name in names}
    answer["best"] = plan_of(found["best"])
    answer["placements"] = placements_of(found)
    answer["baselines"] = {name: plan_of(entry) for name, entry in found["baselines"].items()
                           if "iteration_time_s" in entry}
    return answer


def explore(program, folder, words):
    """The answer to a study, and the data of its picture."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "study.db"
        found = call(program, "explore", study_file(folder), "--db", path, *words)
        with database.open_database(path) as connection:
            search = database.choose_search(connection, search_id=1)  # all that is there
            return answer_of(found), study_figure.data_of(connection, search)


def sweep(program, folder, values):
    with tempfile.TemporaryDirectory() as scratch:
        found = call(program, "explore", study_file(folder), "--db",
                     pathlib.Path(scratch) / "study.db", "--set", "baselines=[]", "--sweep",
                     f"{SWEPT}={values}")
    return {"values": [{"value": step["value"], "placements": placements_of(step),
                        "probability": step["probability"]}
                       for step in found["values"]], "flips": found["flips"]}


def rerun(program, folder, entry, *settings):
    """What a plan that was found takes now, in seconds."""
    def text(value):
        return str(value).lower() if isinstance(value, bool) else value
    words = [f"{key}={text(value)}" for key, value in entry["settings"].items()]
    sets = [word for setting in (*words, *settings) for word in ("--set", setting)]
    return call(program, "run", study_file(folder), "--no-store", *sets)["iteration_time_s"]


# ---- what the documents say ----

def time_text(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.3f} s"


def percent(fraction):
    return f"{100 * fraction:.1f} %"


def placement(crossing):
    return crossing.upper() + "-out"


def likely(probability):
    """How sure the order of two plans is, as the program writes it."""
    points = round(100 * max(probability, 1 - probability))
    return f"{'over 99' if points > 99 else points} % sure"


def judged(excess, probability):
    """A difference with what it is worth."""
    return "none" if excess == 0 else f"{percent(excess)} ({likely(probability)})"


def gain_text(answer, name):
    entry = answer["baselines"][name]
    gain = entry["time"] / answer["best"]["time"] - 1
    return f"{percent(abs(gain))} {'longer' if gain >= 0 else 'less'} " \
           f"({likely(entry['probability_slower'])})"


def margin_of(placements):
    """The better placement, and by how much."""
    first, second = sorted((entry["time"], crossing) for crossing, entry in placements.items())[:2]
    return first[1], second[0] / first[0] - 1


def sweep_table(swept):
    lines = ["| oversubscription | DP-out | PP-out | better by |", "|---|---|---|---|"]
    for step in swept["values"]:
        found = step["placements"]
        cells = [time_text(found[c]["time"]) if c in found else "-" for c in ("dp", "pp")]
        if len(found) > 1:
            best, margin = margin_of(found)
            cells.append(f"{placement(best)}, {judged(margin, step['probability'])}")
        else:
            cells.append("-")
        lines.append(f"| {step['value']} | {' | '.join(cells)} |")
    return "\n\n" + "\n".join(lines) + "\n\n"


def flips_text(swept):
    texts = []
    for flip in swept["flips"]:
        where = f"at about {flip['about']:.0f}" if flip["about"] is not None else \
            f"between {flip['before']} and {flip['after']}"
        texts.append(f"to {placement(flip['to'])} {where}" +
                     ("" if flip["told_apart"] else " (not told apart)"))
    last = swept["values"][-1]["value"]
    return ", ".join(texts) if texts else f"not up to {last}"


def study_texts(name, study):
    answer, swept = study["answer"], study.get("sweep")
    best, error = answer["best"], answer["time_error"]
    texts = {
        "combinations": f"{answer['combinations']:,}",
        "plans": f"{answer['space']:,}",
        "run": f"{answer['ran']:,}",
        "best": best["label"],
        "time": time_text(best["time"]),
        "mfu": percent(best["mfu"]),
        "placement": placement(best["crossing"]),
        "gap": f"{100 * answer['gap']:.2g} %",
        "slack": percent(answer["bound_slack"]),
        "share": f"{100 * answer['ran'] / answer['space']:.2g} %",
        "sure": f"{round(100 * answer['sure'])} %",
    }
    if error:
        texts |= {"error.kind": " or ".join(error["figures_of"]),
                  "error.mean": percent(error["mean"]),
                  "error.worst": percent(abs(error["worst"]))}
    if swept:
        texts |= {"flips": flips_text(swept), "sweep": sweep_table(swept)}
    if best["probability_best"] is not None:
        texts["best.probability"] = f"{round(100 * best['probability_best'])} %"
    for crossing, entry in answer["placements"].items():
        texts[f"{crossing}.time"] = time_text(entry["time"])
        texts[f"{crossing}.plan"] = entry["label"]
    texts["margin"] = "no other can run"
    if len(answer["placements"]) > 1:
        best_crossing, margin = margin_of(answer["placements"])
        other = next(entry for crossing, entry in sorted(
            answer["placements"].items(), key=lambda item: item[1]["time"])
            if crossing != best_crossing)
        texts["margin"] = judged(margin, other["probability_slower"])
    for school, entry in answer["baselines"].items():
        texts[f"{school}.time"] = time_text(entry["time"])
        texts[f"{school}.gain"] = gain_text(answer, school)
    return {f"{name}.{key}": text for key, text in texts.items()}


def texts_of(facts):
    texts = {}
    for name, study in facts["studies"].items():
        texts.update(study_texts(name, study))
    return texts


def rendered(document, texts):
    """The document with what the facts say between its marks."""
    def text(mark):
        if mark[1] not in texts:
            raise ClaimError(f"{document}: nothing is called {mark[1]}; known: "
                             f"{', '.join(sorted(texts))}")
        return f"<!--={mark[1]}-->{texts[mark[1]]}<!--/-->"
    return MARK.sub(text, (TOP / document).read_text(encoding="utf-8"))


def picture(facts):
    figure = study_figure.draw_data(facts["studies"][PICTURE_STUDY]["figure"])
    return study_figure.image_of(figure, ".svg")


# ---- what holds them together ----

def differences(before, now, where):
    """Where two values of JSON differ, one line each."""
    if isinstance(before, dict) and isinstance(now, dict):
        lines = []
        for key in sorted(before.keys() | now.keys()):
            lines += differences(before.get(key), now.get(key), f"{where}.{key}")
        return lines
    same = before == now
    if isinstance(before, float) and isinstance(now, float):
        same = abs(before - now) <= SAME * abs(before)
    return [] if same else [f"{where} is {before!r} in claims.json, now {now!r}"]


def check_documents(facts):
    """What documents and pictures say other than the facts, one line each."""
    texts = texts_of(facts)
    wrong = []
    for document in DOCUMENTS:
        now = (TOP / document).read_text(encoding="utf-8")
        for (name, old), (_, new) in zip(MARK.findall(now),
                                         MARK.findall(rendered(document, texts))):
            if old != new:
                wrong.append(f"{document}: {name} is {old.strip()!r}, found {new.strip()!r}")
    if PICTURE.read_bytes() != picture(facts):
        wrong.append(f"{PICTURE.relative_to(TOP)}: not what claims.json draws")
    return wrong


def check_plans(program, facts):
    """Plans of the facts that take another time by now, one line each."""
    wrong = []

    def compare(folder, entry, where, *settings):
        now = rerun(program, folder, entry, *settings)
        wrong.extend(differences(entry["time"], now, f"{where} ({entry['label']})"))

    for name, study in facts["studies"].items():
        folder = STUDIES[name][0]
        answer = study["answer"]
        for kind in ("placements", "baselines"):
            for key, entry in answer[kind].items():
                compare(folder, entry, f"{name}: {kind} {key}")
        for step in study.get("sweep", {"values": []})["values"]:
            for entry in step["placements"].values():
                compare(folder, entry, f"{name} at {step['value']}", f"{SWEPT}={step['value']}")
    return wrong


def check_search(program, facts, name):
    """What a whole search finds other than the facts, one line each."""
    study = facts["studies"][name]
    folder, _, words = STUDIES[name]
    answer, figure = explore(program, folder, words)
    return differences(study["answer"], answer, name) + \
        differences({str(i): bar for i, bar in enumerate(study["figure"]["bars"])},
                    {str(i): bar for i, bar in enumerate(figure["bars"])}, f"{name}: bar")


def write(facts):
    texts = texts_of(facts)
    for document in DOCUMENTS:
        (TOP / document).write_text(rendered(document, texts), encoding="utf-8")
    PICTURE.write_bytes(picture(facts))


def measure(program, names, facts):
    for name in names:
        folder, values, words = STUDIES[name]
        print(f"claims.py: exploring {folder}", file=sys.stderr, flush=True)
        answer, figure = explore(program, folder, words)
        facts["studies"][name] = {"answer": answer, "figure": figure}
        if values:
            facts["studies"][name]["sweep"] = sweep(program, folder, values)
        FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_facts():
    return json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {"studies": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--measure", nargs="*", choices=list(STUDIES), metavar="STUDY")
    what.add_argument("--explore", nargs="+", choices=list(STUDIES), metavar="STUDY")
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--program", type=pathlib.Path,
                        default=os.environ.get("SCALEACROSS_PROGRAM", TOP / "build" / "release" /
                                               "bin" / "scaleacross"))
    options = parser.parse_args()
    try:
        facts = read_facts()
        if options.check or options.explore:
            wrong = check_documents(facts) + check_plans(options.program, facts) \
                if options.check else [line for name in options.explore
                                       for line in check_search(options.program, facts, name)]
            print("\n".join(wrong) or "every claim holds")
            return 1 if wrong else 0
        if options.measure is not None:
            measure(options.program, options.measure or list(STUDIES), facts)
        write(facts)
    except ClaimError as error:
        print(f"claims.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
