#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The way of someone with an analytical model: 20 lines, against packets over size, distance, loss."""

import ast
import contextlib
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = TOP / "tests" / "journeys" / "own-model"
MODEL, STUDY = HERE / "mine.py", HERE / "study.yaml"
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
sys.path.insert(0, str(TOP / "analysis"))
import error_map  # noqa: E402

MINE = f"mine=command:{sys.executable} {MODEL}"
ENGINES = [MINE, "analytical"]
SIZES, DISTANCES, LOSSES = [64 << 10, 1 << 20, 16 << 20], [1, 30, 300], [0, 1e-4]


def lines_of(path):
    """Lines of code: none that are empty, a comment, or a docstring."""
    text = path.read_text(encoding="utf-8")
    said = {line for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for line in range(node.lineno, node.end_lineno + 1)}
    return [line for number, line in enumerate(text.splitlines(), 1)
            if number not in said and line.strip() and not line.strip().startswith("#")]


class OwnModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.code, cls.printed = cls.draw(ENGINES)
        with (cls.folder / "errors.csv").open(newline="") as file:
            cls.rows = list(csv.DictReader(file))
        cls.errors = {(row["engine"], int(row["bytes"]), float(row["distance_km"]),
                       float(row["loss"])): float(row["error"]) for row in cls.rows}

    @classmethod
    def draw(cls, engines, *options):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = error_map.main([
                str(STUDY), "--engines", *engines, "--rows", str(cls.folder / "rows.jsonl"), "--csv",
                str(cls.folder / "errors.csv"), "-o", str(cls.folder / "errors.png"), *options])
        return code, printed.getvalue()

    def asked(self, engine, size, distance, loss, *words):
        done = subprocess.run(
            [PROGRAM, "collective", STUDY, "--engine", engine, "--op", "all_reduce", "-b", str(size),
             "-e", str(size), "--iterations", "4", "--json", "--set",
             f"cluster.cross.distance={distance}km", "--set", f"cluster.cross.loss={loss}", *words],
            capture_output=True, text=True, check=True)
        return json.loads(done.stdout)[0]["time_us"]

    def test_the_model_has_20_lines(self):
        self.assertLessEqual(len(lines_of(MODEL)), 20)

    def test_every_combination_has_a_row(self):
        self.assertEqual(self.code, 0, self.printed)
        self.assertEqual(set(self.errors), {
            (engine, size, distance, loss) for engine in ("mine", "analytical") for size in SIZES
            for distance in DISTANCES for loss in LOSSES})
        self.assertEqual(len(self.rows), len(self.errors))

    def test_errors_are_those_of_the_times(self):
        for row in self.rows:
            self.assertAlmostEqual(float(row["error"]),
                                   float(row["time_us"]) / float(row["packet_us"]) - 1, places=12)

    def test_times_are_the_programs(self):
        size, distance = SIZES[1], DISTANCES[1]
        (row,) = [row for row in self.rows if (row["engine"], int(row["bytes"])) == ("mine", size)
                  and float(row["distance_km"]) == distance and float(row["loss"]) == LOSSES[1]]
        self.assertEqual(float(row["time_us"]), self.asked(MINE, size, distance, LOSSES[1]))
        packets = [self.asked("packet", size, distance, LOSSES[1], "--seed", str(seed))
                   for seed in range(1, 5)]
        self.assertAlmostEqual(float(row["packet_us"]), sum(packets) / len(packets), places=6)

    def test_the_model_gives_what_it_adds_up(self):
        # Of 16 members in two servers of four in each of two buildings; worked without the program's
        # times: steps and bytes of the phases as the question has them.
        for size, distance in ((SIZES[0], DISTANCES[2]), (SIZES[2], DISTANCES[0])):
            (question,) = self.questions(size, distance)
            network = question["network"]
            total = 0
            for phase in question["tasks"]["collectives"][0]["phases"]:
                sent = phase["sent_bytes"] / phase["group"]["size"]
                scope = phase["group"]["scope"]
                wire = 1 + network["header_bytes"] / network["mtu_bytes"]
                rate = {"server": network["nvlink_rate_bps"] * network["nvlink_efficiency"],
                        "building": network["nic_rate_bps"] / wire,
                        "across": network["nic_rate_bps"] / wire / network["oversubscription"]}[scope]
                total += phase["steps"] * network[f"{scope}_delay_s"] + 8 * sent / rate
            self.assertAlmostEqual(self.asked(MINE, size, distance, 0), 1e6 * total, delta=1e-3)

    def questions(self, size, distance):
        """What the model is asked: a command that keeps the question, and answers."""
        kept = self.folder / "question.json"
        self.asked(f"command:tee {kept} >/dev/null; echo '{{\"time_s\": 1}}'", size, distance, 0)
        return [json.loads(kept.read_text(encoding="utf-8"))]

    def test_it_is_right_far_away_and_wrong_where_packets_are_lost(self):
        # Twice the delay of the span is nearly all of a small collective over 300 km.
        for size in SIZES:
            self.assertLess(abs(self.errors["mine", size, 300.0, 0.0]), 0.05)
            # It takes all neighbours of a building for the farthest, which counts most near by.
            near = [self.errors["mine", size, float(distance), 0.0] for distance in DISTANCES]
            self.assertEqual(near, sorted(near, reverse=True))
        # Go-back-N repeats more than a lost packet; the model counts the round trip alone.
        self.assertLess(self.errors["mine", SIZES[2], 300.0, 1e-4], -0.05)

    def test_without_loss_ours_is_nearer(self):
        def worst(engine):
            return max(abs(error) for (name, _, _, loss), error in self.errors.items()
                       if name == engine and loss == 0)
        self.assertLess(worst("analytical"), worst("mine"))

    def test_the_picture_is_one(self):
        picture = (self.folder / "errors.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", picture[16:24])
        self.assertGreater(min(width, height), 400)

    def test_it_goes_on_from_what_was_measured(self):
        rows, picture = self.folder / "rows.jsonl", self.folder / "errors.png"
        before = rows.read_text(), picture.read_bytes()
        self.assertEqual(self.draw(ENGINES), (0, self.printed))
        self.assertEqual((rows.read_text(), picture.read_bytes()), before)

    def test_an_edited_model_is_measured_again(self):
        edited = self.folder / "edited.py"
        words = ("--sizes", "64K", "--distances", "1", "--losses", "0")
        counts = []
        for factor in (1, 2):
            edited.write_text(MODEL.read_text().replace('{"time_s": ', f'{{"time_s": {factor} * '))
            engine = f"mine=command:{sys.executable} {edited}"
            code, printed = self.draw([engine], *words, "--csv", str(self.folder / "other.csv"),
                                      "-o", str(self.folder / "other.svg"))
            self.assertEqual(code, 0, printed)
            with (self.folder / "other.csv").open(newline="") as file:
                (row,) = csv.DictReader(file)
            counts.append(float(row["time_us"]))
        self.assertAlmostEqual(counts[1] / counts[0], 2, places=6)

    def test_settings_are_those_of_every_run(self):
        size, distance = SIZES[0], DISTANCES[0]
        settings = ["--set", "network.multipath=e-ecmp", "--set", "network.collective=ring"]
        code, printed = self.draw(
            ["analytical"], *settings, "--sizes", "64K", "--distances", f"{distance}",
            "--losses", "0", "--csv", str(self.folder / "set.csv"), "-o",
            str(self.folder / "set.svg"))
        self.assertEqual(code, 0, printed)
        with (self.folder / "set.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        packets = [self.asked("packet", size, distance, 0, "--seed", str(seed), *settings)
                   for seed in range(1, 5)]
        self.assertAlmostEqual(float(row["packet_us"]), sum(packets) / len(packets), places=6)
        # They are rows of their own.
        self.assertNotEqual(float(row["packet_us"]), self.asked("packet", size, distance, 0))

    def test_what_is_wrong_is_said(self):
        code, said = self.draw(["wrong"])
        self.assertEqual(code, 2)
        self.assertTrue(said.startswith("error_map.py: error: wrong, 64 KiB: "), said)
        for words in (["-o", "errors.pdf"], ["--sizes", "1x"], ["--engines", "packet"],
                      ["--set", "network.multipath"], ["--set", "cluster.cross.loss=0.1"]):
            with self.assertRaises(SystemExit):
                self.draw(ENGINES, *words)


if __name__ == "__main__":
    unittest.main()
