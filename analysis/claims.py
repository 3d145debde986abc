#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keeps what the documents say of the studies equal to what the program finds.

A figure in a document stands between two comments, `<!--=NAME-->` and `<!--/-->`. Its text follows
from claims.json, which holds what the program found; so does the picture of a study.

  claims.py --measure [STUDY...]   explores the studies anew, then as --write; takes minutes
  claims.py --write                puts what claims.json says into documents and pictures
  claims.py --check                fails where a document or a picture says something else
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import database
import study_figure

TOP = pathlib.Path(__file__).resolve().parents[1]
FACTS = TOP / "analysis" / "claims.json"
PICTURE = TOP / "analysis" / "figures" / "llama4-maverick-two-buildings.svg"
PICTURE_STUDY = "maverick"
DOCUMENTS = ["README.md", "contrib/scaleacross/doc/compute.md",
             "examples/llama4-maverick-two-buildings/README.md",
             "examples/llama3-405b-two-buildings/README.md",
             "examples/llama3-405b-three-unequal-buildings/README.md"]
SWEPT = "cluster.cross.oversubscription"
# Name: folder under examples/, values of the oversubscription between buildings.
STUDIES = {
    "maverick": ("llama4-maverick-two-buildings", "1,4,16,64,256"),
    "llama": ("llama3-405b-two-buildings", "1,2.8,7,16,64"),
    "three": ("llama3-405b-three-unequal-buildings", "1,2.8,16,64,256"),
}
ROWS = ["vtrain-18.4b", "vtrain-3.6b"]
MARK = re.compile(r"<!--=(\S+?)-->(.*?)<!--/-->", re.DOTALL)


class ClaimError(Exception):
    """A claim that does not hold, or cannot be computed."""


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
    return {"label": entry["plan"]["label"] if "label" in entry["plan"] else None,
            "crossing": entry["plan"]["crossing"], "time": entry["iteration_time_s"],
            "mfu": entry["mfu"], "plan": entry["plan"]}


def answer_of(found):
    """What the documents need of an answer of explore."""
    names = ("combinations", "plans", "evaluated", "ruled_out", "rejected", "failed", "optimal",
             "gap", "bound_slack", "model_error")
    answer = {name: found[name] for name in names}
    answer["best"] = plan_of(found["best"])
    answer["placements"] = {crossing: plan_of(entry)
                            for crossing, entry in found["placements"].items() if entry}
    answer["baselines"] = {name: plan_of(entry) for name, entry in found["baselines"].items()
                           if "iteration_time_s" in entry}
    return answer


def explore(program, folder):
    """The answer to a study, and the data of its picture."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "study.db"
        found = call(program, "explore", study_file(folder), "--db", path)
        with database.open_database(path) as connection:
            search = database.choose_search(connection, None, None)
            return answer_of(found), study_figure.data_of(connection, search)


def sweep(program, folder, values):
    with tempfile.TemporaryDirectory() as scratch:
        found = call(program, "explore", study_file(folder), "--db",
                     pathlib.Path(scratch) / "study.db", "--sweep", f"{SWEPT}={values}")
    return {"values": [{"value": step["value"],
                        "times": {crossing: entry["iteration_time_s"]
                                  for crossing, entry in step["placements"].items() if entry}}
                       for step in found["values"]], "flips": found["flips"]}


def pairs(program):
    """Of measured iterations: [modelled difference, whether the pair is ordered as measured]."""
    found = []
    for name in ROWS:
        rows = call(program, "iterations", TOP / "tests" / "validation" / "iteration-time" /
                    f"{name}.csv")
        times = [(row["measured_s"], row["iteration_time_s"]) for row in rows]
        for a, b in itertools.combinations(times, 2):
            found.append([max(a[1], b[1]) / min(a[1], b[1]) - 1,
                          (a[0] < b[0]) == (a[1] < b[1])])
    return found


def pair_table(found):
    """[from, to, pairs, ordered rightly] by the modelled difference."""
    edges = [0, 0.05, 0.10, 0.15, 0.20, float("inf")]
    table = []
    for low, high in zip(edges, edges[1:]):
        inside = [right for excess, right in found if low <= excess < high]
        table.append([low, None if high == float("inf") else high, len(inside), sum(inside)])
    return table


# ---- what the documents say ----

def time_text(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.3f} s"


def percent(fraction):
    return f"{100 * fraction:.1f} %"


def placement(crossing):
    return crossing.upper() + "-out"


def judged(excess, error):
    """A difference with what it is worth."""
    return percent(excess) + (", within the model's error" if abs(excess) < error[1] else "")


def gain_text(answer, name):
    gain = answer["baselines"][name]["time"] / answer["best"]["time"] - 1
    word = "faster" if gain >= 0 else "slower"
    return f"{percent(abs(gain))} {word} than" + \
        (", within the model's error," if abs(gain) < answer["model_error"][1] else "")


def margin_of(times):
    first, second = sorted(times.items(), key=lambda item: item[1])[:2]
    return first[0], second[1] / first[1] - 1


def sweep_table(swept, error):
    lines = ["| oversubscription | DP-out | PP-out | better by |", "|---|---|---|---|"]
    for step in swept["values"]:
        cells = [time_text(step["times"][c]) if c in step["times"] else "-" for c in ("dp", "pp")]
        if len(step["times"]) > 1:
            best, margin = margin_of(step["times"])
            cells.append(f"{percent(margin)}, " + ("within the model's error"
                                                   if margin < error[1] else placement(best)))
        else:
            cells.append("-")
        lines.append(f"| {step['value']} | {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n"


def flips_text(swept):
    texts = []
    for flip in swept["flips"]:
        where = f"at about {flip['about']:.0f}" if flip["about"] is not None else \
            f"between {flip['before']} and {flip['after']}"
        texts.append(f"to {placement(flip['to'])} {where}" +
                     (" (within the model's error)" if flip["within_model_error"] else ""))
    last = swept["values"][-1]["value"]
    return ", ".join(texts) if texts else f"not up to {last}"


def study_texts(name, study):
    answer, swept = study["answer"], study["sweep"]
    best, error = answer["best"], answer["model_error"]
    texts = {
        "combinations": f"{answer['combinations']:,}",
        "plans": f"{answer['plans']:,}",
        "can_run": f"{answer['evaluated'] + answer['ruled_out']:,}",
        "run": f"{answer['evaluated']:,}",
        "ruled_out": f"{answer['ruled_out']:,}",
        "proof": "optimal for the analytical engine" if answer["optimal"] else "not proven",
        "slack": percent(answer["bound_slack"]),
        "best": best["label"],
        "time": time_text(best["time"]),
        "mfu": percent(best["mfu"]),
        "placement": placement(best["crossing"]),
        "flips": flips_text(swept),
        "sweep": sweep_table(swept, error),
    }
    times = {crossing: entry["time"] for crossing, entry in answer["placements"].items()}
    others = [c for c in times if c != best["crossing"]]
    if others:
        texts["other"] = placement(others[0])
        texts["other_time"] = time_text(times[others[0]])
        texts["margin"] = judged(margin_of(times)[1], error)
    else:
        texts["margin"] = "no other can run"
    for school, entry in answer["baselines"].items():
        texts[f"{school}.time"] = time_text(entry["time"])
        texts[f"{school}.gain"] = gain_text(answer, school)
    return {f"{name}.{key}": text for key, text in texts.items()}


def pair_texts(table):
    lines = ["| differ by | pairs | ordered as measured |", "|---|---|---|"]
    for low, high, count, right in table:
        span = f"under {100 * high:.0f} %" if low == 0 else \
            f"{100 * low:.0f} to {100 * high:.0f} %" if high else f"more than {100 * low:.0f} %"
        share = f"{100 * right / count:.0f} %" if count else "-"
        lines.append(f"| {span} | {count} | {share} |")
    return {"pairs.table": "\n" + "\n".join(lines) + "\n"}


def texts_of(facts):
    texts = pair_texts(facts["pairs"])
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
    return study_figure.image_of(study_figure.draw_data(facts["studies"][PICTURE_STUDY]["figure"]),
                                 ".svg")


def check(facts):
    """What documents and pictures say other than the facts, one line each."""
    texts = texts_of(facts)
    wrong = []
    for document in DOCUMENTS:
        now = (TOP / document).read_text(encoding="utf-8")
        for (_, old), (name, new) in zip(MARK.findall(now), MARK.findall(rendered(document, texts))):
            if old != new:
                wrong.append(f"{document}: {name} is {old.strip()!r}, found {new.strip()!r}")
    if PICTURE.read_bytes() != picture(facts):
        wrong.append(f"{PICTURE.relative_to(TOP)}: not what claims.json draws")
    return wrong


def write(facts):
    texts = texts_of(facts)
    for document in DOCUMENTS:
        (TOP / document).write_text(rendered(document, texts), encoding="utf-8")
    PICTURE.write_bytes(picture(facts))


def measure(program, names, facts):
    for name in names:
        folder, values = STUDIES[name]
        print(f"claims.py: exploring {folder}", file=sys.stderr, flush=True)
        answer, figure = explore(program, folder)
        facts["studies"][name] = {"answer": answer, "figure": figure,
                                  "sweep": sweep(program, folder, values)}
    facts["pairs"] = pair_table(pairs(program))
    FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--measure", nargs="*", choices=list(STUDIES), metavar="STUDY")
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--program", type=pathlib.Path,
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args()
    try:
        facts = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {"studies": {}}
        if options.measure is not None:
            measure(options.program, options.measure or list(STUDIES), facts)
        if options.check:
            wrong = check(facts)
            print("\n".join(wrong) or "every claim is what claims.json says")
            return 1 if wrong else 0
        write(facts)
    except ClaimError as error:
        print(f"claims.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
