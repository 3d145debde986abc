#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a study of sites answers: best plan, loss, flip distance, half of a span, the next best.

    ask.py STUDY FOLDER      writes answer.json, plans.csv, answer.db and answer.html
"""

import json
import math
import pathlib
import subprocess
import sys

import scaleacross

DISTANCE = "cluster.cross.distance"
NEAR, FAR, EXACT = 40, 3000, 1.05  # km, and how narrow the flip is bracketed
THIN, SPINES = ("east", "west"), 4


def flip(study, db):
    """The two distances between which what crosses changes, and the best plan at each asked one."""
    crossing = {}

    def at(distance):
        point = scaleacross.explore(study, db=db, set={DISTANCE: f"{distance}km", "baselines": []})
        crossing[distance] = point["best"]["plan"]["crossing"], point["best"]["iteration_time_s"]
        return crossing[distance][0]

    low, high = NEAR, FAR
    if at(low) == at(high):
        return None, crossing
    while high / low > EXACT:
        middle = round(math.sqrt(low * high))
        low, high = (middle, high) if at(middle) == crossing[NEAR][0] else (low, middle)
    return (low, high), crossing


def half_lost():
    """Half of the lanes of the thinnest span are down: one of the two of every spine."""
    return [{"kind": "link-failure", "target": "--".join(f"{site}/spine{i}" for site in THIN) + "#2",
             "at": "0s"} for i in range(SPINES)]


def settings(plan):
    """What --set takes to run a plan."""
    return {f"plan.{key}": value for key, value in plan.items() if key not in ("label", "network")}


def ask(study, folder):
    db = folder / "answer.db"
    answer = scaleacross.explore(study, db=db, keep=100)
    best = answer["best"]
    scaleacross.explore(study, db=db, sweep={DISTANCE: [f"{km}km" for km in (100, 300, 1000, FAR)]})
    # In a database of their own: searches that the report need not have.
    between, crossing = flip(study, folder / "flip.db")
    lost = {"events": half_lost(), "baselines": []}
    kept = scaleacross.run(study, set={**lost, **settings(best["plan"])})
    anew = scaleacross.explore(study, db=folder / "flip.db", set=lost)
    # `export` and `report` are commands; the package has no calls for them.
    subprocess.run([scaleacross.find_program(), "export", db, "--csv", "--search", "1", "-o",
                    folder / "plans.csv"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-BP", "-m", "scaleacross.report", db, "-o",
                    folder / "answer.html"], check=True, stdout=subprocess.DEVNULL)
    found = {
        "answer": dict(answer),
        "loss": 1 - answer["one_site"]["iteration_time_s"] / best["iteration_time_s"],
        "flip_km": between, "crossing": crossing,
        "half_lost": {"kept": dict(kept), "anew": dict(anew)},
        "next": [{key: plan[key] for key in ("label", "iteration_time_s", "differs", "because")}
                 for plan in answer["ranking"][1:6]],
    }
    (folder / "answer.json").write_text(json.dumps(found))
    return found


def say(found):
    best = found["answer"]["best"]
    print(f"{best['plan']['label']}: {best['iteration_time_s']:.3f} s, {found['loss']:.1%} less "
          "throughput than in one site")
    between = found["flip_km"]
    print("the placement does not flip" if between is None else
          f"what crosses flips between {between[0]} and {between[1]} km")
    for name in ("kept", "anew"):
        run = found["half_lost"][name].get("best", found["half_lost"][name])
        print(f"half of {'--'.join(THIN)} lost, plan {name}: {run['iteration_time_s']:.3f} s")
    for plan in found["next"]:
        parts = sorted(plan["because"].items(), key=lambda part: -abs(part[1]))[:3]
        print(f"{plan['label']}: {plan['iteration_time_s']:.3f} s;",
              ", ".join(f"{key} {own} for {its}" for key, (own, its) in plan["differs"].items()),
              "->", ", ".join(f"{name} {1e3 * seconds:+.1f} ms" for name, seconds in parts))


if __name__ == "__main__":
    say(ask(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
