#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tables of paths over two buildings are what the program finds, and page and picture say what
they hold."""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
FOLDER = TOP / "examples" / "multipath-two-buildings"
STUDY = FOLDER / "study.yaml"

sys.path.insert(0, str(TOP / "analysis"))
import multipath_grid as script  # noqa: E402

SPRAYED = ["spray-random", "spray-rr", "spray-adaptive"]


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def milliseconds(rows, words, **values):
    """Of the packet engine, seed by seed, where the plan's label has these words."""
    return [1e3 * float(row["iteration_time_s"]) for row in rows
            if row["engine"] == "packet" and set(words) <= set(row["plan.label"].split()) and
            all(row[f"point.cluster.cross.{key}"] == value for key, value in values.items())]


class MultipathGrid(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.rows = rows_of(FOLDER / "grid.csv")
        cls.grid = script.Grid(FOLDER / "grid.csv", script.GRID)
        cls.tolerance = script.Grid(FOLDER / "tolerance.csv", script.TOLERANCE)
        cls.page = (FOLDER / "README.md").read_text()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words):
        """Exit code, standard output and standard error."""
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                code = script.main([str(word) for word in words])
            except SystemExit as end:
                code = end.code
        return code, printed.getvalue(), said.getvalue()

    def compared(self, *words):
        """Rows that the program finds now."""
        table = self.folder / "again.csv"
        subprocess.run([PROGRAM, "compare", str(STUDY), "--iterations", "2", "--csv", str(table),
                        "--db", str(self.folder / "a.db"), *words],
                       capture_output=True, check=True)
        return rows_of(table)

    def expect_rows(self, found, rows):
        """Every row, in the columns of the table; its times have twelve digits."""
        numbers = ("iteration_time_s", "relative_error")

        def key(row):
            return tuple(row[name] for name in rows[0] if name not in numbers)

        known = {key(row): row for row in rows}
        for row in found:
            for name in numbers:
                self.assertAlmostEqual(float(row[name]), float(known[key(row)][name]), delta=1e-9)

    def run_of(self, *words):
        ended = subprocess.run([PROGRAM, "run", str(STUDY), "--no-store", "--json", *words],
                               capture_output=True, text=True, check=True)
        return json.loads(ended.stdout)

    def test_the_grid_is_found_again(self):
        found = self.compared("--sweep", "cluster.cross.loss=0,1e-5", "--sweep",
                              "cluster.cross.distance=30km", "--set",
                              "search={plan: {crossing: [pp, ep]}, network: {multipath: "
                              "[e-ecmp, spray-adaptive]}}")
        # Two losses, two crossings, two multipaths, three engines.
        self.assertEqual(len(found), 24)
        self.expect_rows(found, self.rows)

    def test_tolerances_are_found_again(self):
        found = self.compared("--sweep", "cluster.cross.loss=1e-5", "--engines", "packet", "--set",
                              "search={plan: {crossing: [dp]}, network: {multipath: "
                              "[spray-random, spray-adaptive], qps: [1, 16], "
                              "reorder_tolerance: [16, 256]}}")
        self.assertEqual(len(found), 8)
        self.expect_rows(found, rows_of(FOLDER / "tolerance.csv"))

    def test_the_commands_of_the_page_are_those_of_the_tables(self):
        grid, tolerance = re.findall(r"compare (.*?) --csv", self.page, re.DOTALL)
        for words in ("--seeds 4", "--iterations 2", "cluster.cross.loss=0,1e-5,1e-4",
                      "cluster.cross.distance=2km,30km,300km,1000km"):
            self.assertIn(words, grid)
        self.assertEqual(self.grid.values, {
            "plan.crossing": ["dp", "pp", "ep"], "point.cluster.cross.loss": ["0", "1e-5", "1e-4"],
            "point.cluster.cross.distance": ["2km", "30km", "300km", "1000km"],
            "plan.network.multipath": ["ecmp", "e-ecmp", *SPRAYED]})
        said = " ".join(tolerance.split())
        for word, key in (("crossing: [{}]", "plan.crossing"), ("qps: [{}]", "plan.network.qps"),
                          ("multipath: [{}]", "plan.network.multipath"),
                          ("reorder_tolerance: [{}]", "plan.network.reorder_tolerance")):
            self.assertIn(word.format(", ".join(self.tolerance.values[key])), said)
        self.assertIn("loss=" + ",".join(self.tolerance.values["point.cluster.cross.loss"]), said)

    def test_what_packets_saw_without_loss(self):
        """The table of one iteration over 2 km: DP's time, the hash's fullest span, repetitions."""
        table = re.search(r"\| multipath \| DP under way .*?\n\n", self.page, re.DOTALL)[0]
        lines = table.splitlines()[2:-1]
        self.assertEqual(len(lines), 5)
        for line in lines:
            multipath, time, fullest, again = [cell.strip() for cell in line.split("|")[1:-1]]
            run = self.run_of("--engine", "packet", "--set", f"network.multipath={multipath}",
                              "--set", "cluster.cross.distance=2km")
            network = run["network"]
            self.assertEqual(time, f"{1e3 * run['classes']['dp']['busy_s']:.2f} ms")
            self.assertEqual(fullest, f"{network['collision_factor']:.2f}")
            self.assertEqual(again, str(network["retransmissions"]))
            self.assertEqual(network["packets_dropped"], 0)

    def test_losses_of_an_iteration(self):
        """Packets over the spans, how many are lost, and how many of these only a timer tells of:
        a message of PP, of 2,048 tokens, is split into 16 parts of 64 packets, a tolerance of 16
        leaves the last 17, and after one microbatch in four no message follows."""
        packets = {crossing: self.run_of("--engine", "analytical", "--set",
                                         f"plan.crossing={crossing}")["cross_building_bytes"] / 4096
                   for crossing in ("dp", "pp", "ep")}
        page = " ".join(self.page.split())
        self.assertEqual(packets["pp"], 4 * 8 * 2 * 2048 * 1024 * 2 / 4096)
        self.assertIn(f"PP sends {packets['pp']:,.0f} packets", page)
        self.assertIn(f"DP sends {packets['dp']:,.0f} packets and EP {packets['ep']:,.0f}, so that "
                      f"{1e-5 * packets['dp']:.1f} and {1e-5 * packets['ep']:.1f} are lost", page)
        lost = 1e-4 * packets["pp"]
        timeout = 4.096e-3 * 2**12
        self.assertIn(f"{lost:.1f} of them are lost at 1e-4", page)
        part = 2048 * 1024 * 2 / 4096 / 16
        self.assertIn(f"of a queue pair's {part:.0f} ", page)
        timers = 17 / part * lost / 4
        self.assertIn(f"17 of {part:.0f} times a quarter of {lost:.1f} are {timers:.2f} timers or "
                      f"{timers * timeout:.1f} ms", page)
        self.assertIn(f"found by the timer, {timeout:.1f} ms", page)

    def test_every_point_has_four_seeds_of_packets(self):
        self.assertEqual(len(self.rows), len({tuple(row.values()) for row in self.rows}))
        packets = [row for row in self.rows if row["engine"] == "packet"]
        self.assertEqual(len(packets), 3 * 3 * 4 * 5 * 4)
        self.assertEqual({row["seed"] for row in packets}, {"1", "2", "3", "4"})

    def test_page_and_picture_say_what_the_tables_hold(self):
        self.assertEqual(
            script.page_with(self.page, script.figures(self.grid, self.tolerance)), self.page)
        picture = self.folder / "grid.svg"
        page = self.folder / "README.md"
        page.write_text(re.sub(r"(<!--=\S+?-->).*?(<!--/-->)", r"\1\2", self.page,
                               flags=re.DOTALL))
        code, printed, said = self.call(FOLDER / "grid.csv", "-o", picture, "--page", page)
        self.assertEqual((code, printed, said), (0, "", ""))
        self.assertEqual(picture.read_bytes(), (FOLDER / "grid.svg").read_bytes())
        self.assertEqual(page.read_text(), self.page)

    def test_cells_of_the_page_are_means_over_seeds(self):
        """By other means than the script's."""
        lines = [[cell.strip(" *") for cell in line.split("|")[1:-1]]
                 for line in self.page.splitlines() if line.startswith("| ")]
        heads = [cell for cell in next(line for line in lines if line[0] == "crosses")[2:]]
        for crossing, label in (("dp", "DP-out"), ("pp", "PP-out"), ("ep", "EP-out")):
            for multipath in ["ecmp", "e-ecmp", *SPRAYED]:
                cells = next(line for line in lines if line[:2] == [crossing, multipath])[2:]
                self.assertEqual(len(cells), 12)
                for head, cell in zip(heads, cells):
                    distance, loss = head.split(", ")
                    times = milliseconds(
                        self.rows, [label, f"multipath={multipath}"],
                        loss={"no loss": "0"}.get(loss, loss.removeprefix("loss ")),
                        distance=distance.replace(" ", ""))
                    self.assertEqual(len(times), 4)
                    self.assertAlmostEqual(float(cell), statistics.fmean(times),
                                           delta=0.0051 * statistics.fmean(times))

    def test_without_loss_spraying_is_the_fastest_and_needs_no_luck(self):
        for crossing in ("DP-out", "PP-out", "EP-out"):
            for distance in ("2km", "30km", "300km", "1000km"):
                times = {word: milliseconds(self.rows, [crossing, f"multipath={word}"], loss="0",
                                            distance=distance)
                         for word in ["ecmp", "e-ecmp", *SPRAYED]}
                for word in ("spray-rr", "spray-adaptive"):
                    self.assertLess(max(times[word]), 1.001 * min(times[word]))
                    self.assertLess(max(times[word]), min(times["spray-random"]))
                self.assertLess(max(times["spray-random"]), min(times["e-ecmp"]))
                self.assertLess(statistics.fmean(times["e-ecmp"]), statistics.fmean(times["ecmp"]))

    def test_distance_is_round_trips(self):
        """Round trips of 10 us per km that an iteration waits for. DP: all-reduces of two layers,
        of embedding or head, and of the experts by themselves. PP: of four microbatches, the first
        and the second pair go there and back. EP: four all-to-alls of each microbatch in turn on
        each of two stages, (4 + 1) x 4 ways; and all-reduces as with DP but that of the experts."""
        for crossing, trips in (("DP-out", 4), ("PP-out", 2), ("EP-out", (4 + 1) * 4 / 2 + 3)):
            for word in ("spray-rr", "spray-adaptive", "ecmp", "e-ecmp"):
                far, near = (statistics.fmean(milliseconds(
                    self.rows, [crossing, f"multipath={word}"], loss="0", distance=distance))
                    for distance in ("1000km", "300km"))
                self.assertAlmostEqual(far - near, trips * 0.01 * 700, delta=0.03, msg=crossing)

    def test_wrong_input_is_refused(self):
        lines = (FOLDER / "grid.csv").read_text().splitlines()
        table = self.folder / "grid.csv"
        out = self.folder / "grid.png"
        first = next(csv.reader(lines[1:2]))
        time = first[lines[0].split(",").index("iteration_time_s")]
        failed = f"{lines[0]},failed.reason\n{lines[1].replace(time, '')},timeout"
        rows = f"{lines[0]}\n{lines[1]}\n"
        for text, said in ((rows + lines[2][:len(lines[2]) // 2], "grid.csv:3: not as many cells as "
                            "columns; the same ./scaleacross compare"),
                           (rows.replace(time, "nan"), "grid.csv:2: iteration_time_s is 'nan', and "
                            "should be seconds above 0"),
                           ("", "there is no column plan.crossing"),
                           (failed, "grid.csv:2: timeout, which has no time"),
                           ("\n".join(lines[:2]), "nothing of packet at")):
            table.write_text(text)
            code, _, complaint = self.call(table, "-o", out)
            self.assertEqual(code, 2)
            self.assertIn(said, complaint)
            self.assertFalse(out.exists())
        code, _, complaint = self.call(self.folder / "nowhere.csv")
        self.assertEqual(code, 2)
        self.assertIn("No such file", complaint)
        code, _, complaint = self.call(table, "-o", "grid.gif")
        self.assertEqual(code, 2)
        self.assertIn(".svg or .png", complaint)
        self.assertRaisesRegex(script.InputError, "nothing is called here", script.page_with,
                               "<!--=here--><!--/-->", {"there": ""})


if __name__ == "__main__":
    unittest.main()
