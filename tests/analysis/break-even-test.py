#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The break-even map, drawn from what the program itself has just printed."""

import contextlib
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "analysis" / "break_even.py"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, str(SCRIPT.parent))
import break_even  # noqa: E402

DISTANCES = ["1km", "100km", "3000km"]
RATIOS = ["1", "16", "256", "1000"]


def explore(folder, *sweeps):
    path = folder / f"{len(sweeps)}.json"
    words = [word for sweep in sweeps for word in ("--sweep", sweep)]
    path.write_text(subprocess.run(
        [PROGRAM, "explore", STUDY, "--json", "--db", folder / "grid.db", *words], check=True,
        text=True, stdout=subprocess.PIPE).stdout)
    return path


def texts(path):
    return [element.text for element in xml.etree.ElementTree.parse(path).iter(f"{SVG}text")]


def groups(path, kind):
    """Groups "KIND ROW COLUMN" of a picture, by row and column."""
    found = {}
    for group in xml.etree.ElementTree.parse(path).iter(f"{SVG}g"):
        cell = re.fullmatch(kind + r" (\d+) (\d+)", group.get("id", ""))
        if cell:
            found[int(cell[1]), int(cell[2])] = group
    return found


def fills(path):
    """The colour of each cell, by its row and column."""
    return {cell: re.search(r"fill: (#\w+)", group.find(f"{SVG}path").get("style")).group(1)
            for cell, group in groups(path, "cell").items()}


def name(point):
    return f"{point['winner'].upper()}-out"


class BreakEven(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        sweeps = ["cluster.cross.distance=" + ",".join(DISTANCES),
                  "cluster.cross.oversubscription=" + ",".join(RATIOS)]
        cls.path = explore(cls.folder, *sweeps)
        cls.report = json.loads(cls.path.read_text())
        cls.three = explore(cls.folder, "network.qps=4,16", *sweeps)

    def setUp(self):
        self.out = self.folder / f"{self.id()}.svg"

    def draw(self, report, *options, out=None):
        """Exit code and standard error."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                code = break_even.main([str(report), "-o", str(out or self.out), *options])
            except SystemExit as end:
                code = end.code
        return code, said.getvalue()

    def test_cells_are_the_winners_of_the_report(self):
        self.assertEqual(self.draw(self.path), (0, ""))
        cells, doubts = fills(self.out), groups(self.out, "doubt")
        self.assertEqual(len(cells), len(DISTANCES) * len(RATIOS))
        colours = {}
        drawn = texts(self.out)
        for point in self.report["points"]:
            row = DISTANCES.index(point["at"]["cluster.cross.distance"])
            column = RATIOS.index(point["at"]["cluster.cross.oversubscription"])
            colours.setdefault(point["winner"], set()).add(cells[row, column])
            self.assertEqual((row, column) in doubts, point["probability"] < point["sure"])
            self.assertIn(f"{100 * point['margin']:.1f} %", drawn)
        # Both win somewhere, each in one colour of its own.
        self.assertEqual(set(colours), {"dp", "pp"})
        self.assertTrue(all(len(own) == 1 for own in colours.values()))
        self.assertNotEqual(*colours.values())
        for text in (*DISTANCES, *RATIOS, "DP-out", "PP-out", "equally fast",
                     "small-two-buildings: which placement wins, and by how much"):
            self.assertIn(text, drawn)

    def test_lines_pass_behind_the_text(self):
        self.assertEqual(self.draw(self.path), (0, ""))
        # SVG paints in the order of the file: a text stands on a patch of the colour of its cell,
        # behind the last line.
        text = self.out.read_text()
        last = text.rindex('id="LineCollection') if "LineCollection" in text else \
            text.rindex('id="PathCollection') if "PathCollection" in text else \
            text.rindex('id="QuadContourSet')
        for point in self.report["points"]:
            written = text.index(f">{name(point)}</text>", last)
            self.assertLess(last, text.rindex("<path", last, written))

    def test_margins_have_the_sign_of_the_winner(self):
        _, rows = break_even.grid_of(self.report, {})
        margins = break_even.signed_margins(rows, "dp", "pp")
        for row, line in zip(rows, margins):
            for point, margin in zip(row, line):
                self.assertEqual(point["winner"], "dp" if margin > 0 else "pp")
                self.assertAlmostEqual(abs(margin), 100 * point["margin"], places=9)
        rows[0][0]["placements"]["pp"] = None
        self.assertTrue(math.isnan(break_even.signed_margins(rows, "dp", "pp")[0][0]))

    def test_a_placement_that_cannot_run_and_a_point_without_any(self):
        report = json.loads(self.path.read_text())
        report["points"][0].update(margin=None, probability=None, winner="dp")
        report["points"][0]["placements"]["pp"] = None
        report["points"][1].update(margin=None, probability=None, winner=None,
                                   placements={"dp": None, "pp": None})
        path = self.folder / "holes.json"
        path.write_text(json.dumps(report))
        self.assertEqual(self.draw(path), (0, ""))
        drawn = texts(self.out)
        self.assertIn("alone", drawn)
        self.assertIn("none", drawn)
        self.assertEqual(fills(self.out)[0, 1], "#ffffff")

    def test_where_nothing_crosses_no_placement_wins(self):
        report = json.loads(self.path.read_text())
        report["points"][0].update(margin=None, probability=None, winner=None)
        path = self.folder / "lone.json"
        path.write_text(json.dumps(report))
        self.assertEqual(self.draw(path), (0, ""))
        self.assertIn("nothing crosses", texts(self.out))
        self.assertEqual(fills(self.out)[0, 0], "#ffffff")
        rows = break_even.grid_of(report, {})[1]
        self.assertTrue(math.isnan(break_even.signed_margins(rows, "dp", "pp")[0][0]))
        self.assertFalse(math.isnan(break_even.signed_margins(rows, "dp", "pp")[0][1]))

    def test_of_three_sweeps_one_is_held(self):
        code, said = self.draw(self.three)
        self.assertEqual(code, 2)
        self.assertEqual(said, "break_even.py: a picture has two settings that vary, and there are 3: "
                         "network.qps, cluster.cross.distance, cluster.cross.oversubscription; hold "
                         "one of them by --at KEY=VALUE\n")
        self.assertEqual(self.draw(self.three, "--at", "network.qps=16"), (0, ""))
        self.assertEqual(len(fills(self.out)), len(DISTANCES) * len(RATIOS))
        self.assertTrue(any("network.qps = 16" in text for text in texts(self.out)))

    def test_same_bytes_from_standard_input(self):
        self.draw(self.path)
        again = self.folder / "again.svg"
        subprocess.run([sys.executable, SCRIPT, "-", "-o", again], check=True,
                       input=self.path.read_text(), text=True)
        self.assertEqual(again.read_bytes(), self.out.read_bytes())

    def test_wrong_input_is_refused(self):
        def refuse(report, *options, says, out=None):
            code, said = self.draw(report, *options, out=out)
            self.assertEqual(code, 2)
            self.assertRegex(said, says)
            self.assertFalse(self.out.exists())
        refuse(self.folder / "none.json", says="none.json: No such file")
        single = explore(self.folder, "cluster.cross.distance=1km,3km")
        refuse(single, says="there is no 'sweeps' in it; .*--sweep B=")
        refuse(self.three, "--at", "network.qps=5", says="its values are 4, 16")
        refuse(self.three, "--at", "network.mtu=5", says="swept are network.qps, cluster")
        refuse(self.three, "--at", "network.qps", says="this is not KEY=VALUE")
        held = ["--at", "cluster.cross.distance=1km"]
        refuse(self.path, *held, says="a picture has two settings that vary, and of "
               "cluster.cross.distance, cluster.cross.oversubscription --at leaves "
               "cluster.cross.oversubscription; leave out --at cluster.cross.distance=1km\n$")
        both = [*held, "--at", "cluster.cross.oversubscription=16"]
        refuse(self.path, *both, says="--at leaves none; leave out --at cluster.cross.distance=1km, "
               "--at cluster.cross.oversubscription=16\n$")
        # Of three and two held, either may be given back.
        refuse(self.three, *both, says="--at leaves network.qps; leave out one of --at cluster.cross."
               "distance=1km, --at cluster.cross.oversubscription=16\n$")
        refuse(self.path, *held, *held, says="held twice; give it once")
        one = json.loads(self.path.read_text())
        one["sweeps"] = one["sweeps"][:1]
        (self.folder / "one.json").write_text(json.dumps(one))
        refuse(self.folder / "one.json", says="swept are: cluster.cross.distance; ./scaleacross "
               "explore STUDY --sweep A=.* --sweep B=.* --json has two\n$")
        refuse(self.path, says=".svg or .png", out=self.folder / "x.gif")
        some = json.loads(self.path.read_text())
        some["points"] = some["points"][:5]
        partial = self.folder / "partial.json"
        partial.write_text(json.dumps(some))
        refuse(partial, says="the sweep was interrupted: 5 of 12 points are there")


if __name__ == "__main__":
    unittest.main()
