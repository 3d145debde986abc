#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--csv of every command that prints a table: the rows of its --json."""

import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SECONDS = re.compile(r"; [0-9.]+ s\n")
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
STUDY = str(TOP / "examples" / "small-two-buildings" / "study.yaml")
PLAN = [STUDY, "--set", "search={}"]
SEARCH = [STUDY, "--set", "engines=[analytical]"]
# What its JSON has where rows are expected; None: the answer as a whole.
COMMANDS = [
    (["run", *PLAN, "--no-store"], lambda answer: [answer]),
    (["run", *PLAN, "--no-store", "--set", "model=llama3-405b"], lambda answer: [answer]),
    (["explore", *SEARCH, "--top", "5"], lambda answer: answer["ranking"]),
    (["compare", *PLAN, "--engines", "analytical,flow", "--sweep",
      "cluster.cross.distance=1km,30km"], lambda answer: answer["rows"]),
    (["schedule", *PLAN], lambda answer: answer["stages"]),
    (["collective", STUDY, "-b", "1M", "-e", "4M"], None),
    (["sensitivity", STUDY, "--of", "cluster.cross"], lambda answer: answer["inputs"]),
    (["require", STUDY, "--loss", "30%", "--of", "distance"], lambda answer: answer["answers"]),
    (["calibrate", *PLAN, "--list"], None),
    (["fairness", "--control", "dcqcn,swift", "--senders", "2", "--warm-up", "1ms", "--measured",
      "1ms"], None),
    *[(["list", what], None) for what in
      ("models", "gpus", "curves", "stacks", "fabrics", "machines", "schedules", "transports",
       "plans", "baselines", "engines", "fields")],
]


def run(arguments, folder):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)


def cells(value, name=""):
    """The leaves of a JSON value by their ways, as --csv should have them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from cells(part, f"{name}.{key}" if name else key)
    else:
        yield name, value


class RowsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def hold(self, wanted, text):
        """Every leaf is in its column, and nothing else is there."""
        rows = list(csv.reader(text.splitlines(keepends=True)))
        names = rows[0]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(rows) - 1, len(wanted))
        self.assertEqual(set(names), {name for row in wanted for name, _ in cells(row)})
        for row, line in zip(wanted, rows[1:]):
            leaves = dict(cells(row))
            for name, cell in zip(names, line):
                value = leaves.get(name)
                if value is None:
                    self.assertEqual(cell, "")
                elif isinstance(value, str):
                    self.assertEqual(cell, value)
                else:
                    self.assertEqual(json.loads(cell), value)

    def hold_same(self, one, other):
        """But for the time that it took."""
        tables = [list(csv.DictReader(text.splitlines())) for text in (one, other)]
        for row in tables[0] + tables[1]:
            row.pop("seconds", None)
        self.assertEqual(*tables)

    def test_every_command(self):
        for arguments, rows_of in COMMANDS:
            with self.subTest(" ".join(arguments)):
                call = run([*arguments, "--json", "--csv", "rows.csv"], self.path)
                self.assertEqual(call.stderr, "")
                answer = (json.loads(call.stdout) if arguments[0] != "fairness" else
                          [json.loads(line) for line in call.stdout.splitlines()])
                text = (self.path / "rows.csv").read_text()
                wanted = rows_of(answer) if rows_of else answer
                if isinstance(answer, dict) and answer.get("settings"):
                    changes = ", ".join(f"{key}={value}" for key, value in answer["settings"].items())
                    wanted = [{"changes": changes, **row} for row in wanted]
                self.hold(wanted, text)
                # The same beside a table, which stays as it is.
                plain = run(arguments, self.path)
                beside = run([*arguments, "--csv", "beside.csv"], self.path)
                self.assertEqual(*(SECONDS.sub("", call.stdout) for call in (beside, plain)))
                self.hold_same((self.path / "beside.csv").read_text(), text)

    def hold_points(self, points, values, text):
        """A row for every point of a sweep: its values by their keys, which placement wins by how much,
        the time of each, then what the best plan is and takes; no column that tells nothing."""
        rows = list(csv.DictReader(text.splitlines()))
        names = list(rows[0])
        self.assertEqual(len(rows), len(points))
        axes = list(values[0])
        times = [f"placements.{name}.iteration_time_s" for name in points[0]["placements"]]
        head = [*axes, "winner", "margin", "probability", *times, "best.plan.label",
                "best.iteration_time_s", "best.mfu"]
        self.assertEqual(names[:len(head)], head)
        self.assertLess(len(names), 80)
        for point, own, row in zip(points, values, rows):
            self.assertEqual({axis: row[axis] for axis in axes}, own)
            leaves = dict(cells(point))
            for name in names[len(axes):]:
                value = leaves.get(name)
                if name == "warnings":
                    self.assertEqual(row[name], "; ".join(value))
                elif value is None:
                    self.assertEqual(row[name], "", name)
                elif isinstance(value, str):
                    self.assertEqual(row[name], value)
                else:
                    self.assertEqual(json.loads(row[name]), value, name)
        for name in names:
            self.assertNotEqual({row[name] for row in rows}, {""}, name)
            known = name in head or re.fullmatch(r"best\.[a-z_0-9]+", name)
            self.assertTrue(known or len({row[name] for row in rows}) > 1, name)
        # Neither where it is kept nor a table within the table.
        self.assertFalse({"value", "db", "seconds", "ranking", "explanation"} & set(names))

    def test_sweeps(self):
        sweep = ["explore", *SEARCH, "--sweep", "cluster.cross.distance=1km,30km"]
        call = run([*sweep, "--json", "--csv", "rows.csv"], self.path)
        self.assertEqual(call.stderr, "")
        points = json.loads(call.stdout)["values"]
        self.hold_points(points, [{"cluster.cross.distance": point["value"]} for point in points],
                         (self.path / "rows.csv").read_text())
        call = run([*sweep, "--sweep", "cluster.cross.loss=0,1e-5", "--json", "--csv", "grid.csv"],
                   self.path)
        self.assertEqual(call.stderr, "")
        points = json.loads(call.stdout)["points"]
        self.hold_points(points, [point["at"] for point in points],
                         (self.path / "grid.csv").read_text())
        # The same beside a table; of one value all that there is.
        beside = run([*sweep, "--csv", "beside.csv"], self.path)
        self.assertEqual(beside.returncode, 0)
        self.hold_same((self.path / "beside.csv").read_text(), (self.path / "rows.csv").read_text())
        run(["explore", *SEARCH, "--sweep", "workload.global_batch=64", "--csv", "one.csv"], self.path)
        row, = csv.DictReader((self.path / "one.csv").read_text().splitlines())
        self.assertEqual(row["workload.global_batch"], "64")
        self.assertIn("best.plan.tp", row)

    def test_wrong_files(self):
        (self.path / "study.yaml").write_text(pathlib.Path(STUDY).read_text())
        wrong = [("study.yaml", "run study.yaml --set search={} --no-store"),
                 ("s.db", "run study.yaml --set search={} --db s.db"),
                 ("no/rows.csv", "sensitivity study.yaml"),
                 ("-", "require study.yaml --loss 3%"),
                 ("small-two-buildings.db", "explore study.yaml"),
                 ("s.db-wal", "collective study.yaml --db s.db"),
                 ("no/rows.csv", "list models")]
        before = sorted(self.path.iterdir())
        for name, arguments in wrong:
            with self.subTest(f"{arguments} --csv {name}"):
                call = run([*arguments.split(), "--csv", name], self.path)
                self.assertEqual(call.returncode, 2)
                self.assertIn("--csv", call.stderr)
                self.assertEqual(call.stdout, "")
                self.assertEqual(sorted(self.path.iterdir()), before)
        self.assertEqual((self.path / "study.yaml").read_text(), pathlib.Path(STUDY).read_text())


if __name__ == "__main__":
    unittest.main()
