#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The timeline that run --trace writes keeps to its schema and adds up to the report."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SCHEMA = TOP / "contrib" / "scaleacross" / "schemas" / "trace-events.json"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
CLASSES = ("tp", "cp", "ep", "pp", "dp")


def nanoseconds(us):
    """As a reader of the format counts that cuts off what is below a nanosecond."""
    return int(us * 1000.0)


class TraceEvents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, "run", str(STUDY), "--no-store", "--set", "search={}",
                               *words], cwd=self.folder, capture_output=True, text=True)

    def trace(self, *words):
        """The trace of a run, and what it printed."""
        ended = self.run_program("--json", "--trace", "trace.json", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        trace = json.loads((self.folder / "trace.json").read_text(encoding="utf-8"))
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(trace)
        return trace, json.loads(ended.stdout)

    def check_sums(self, trace, report):
        processes = trace["otherData"]["processes"]
        self.assertTrue(trace["otherData"]["whole"])
        sums = collections.Counter()
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event["cat"] in ("compute", "bubble", "exposed"):
                sums[event["name"]] += (event["args"]["dur_ps"]
                                        * processes[event["pid"]]["ranks"])
        over = sum(process["ranks"] for process in processes) * report["iterations"]
        expected = {"compute": report["compute_s"], "bubble": report["bubble_s"]}
        for name in CLASSES:
            expected[f"exposed {name}"] = report["classes"][name]["exposed_s"]
        for name, seconds in expected.items():
            # The report's mean is in whole picoseconds.
            self.assertAlmostEqual(sums[name] / over, seconds * 1e12, delta=1.001, msg=name)
        longest = max(one["end_ps"] - one["begin_ps"] for one in processes)
        self.assertEqual(longest // report["iterations"],
                         round(report["iteration_time_s"] * 1e12))

    def check_rows(self, trace):
        """Slices of a row follow each other; arrows and messages come in pairs."""
        rows = collections.defaultdict(list)
        ids = collections.defaultdict(list)
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                begin = nanoseconds(event["ts"])
                self.assertEqual(begin, round(event["ts"] * 1000.0))
                end = begin + nanoseconds(event["dur"])
                args = event["args"]
                self.assertEqual(begin, args["begin_ps"] // 1000)
                self.assertEqual(end, (args["begin_ps"] + args["dur_ps"]) // 1000)
                rows[event["pid"], event["tid"]].append((begin, end))
            elif event["ph"] not in "MC":
                ids[event["cat"], event["id"]].append((event["ph"], event["ts"]))
        for row in rows.values():
            row.sort()
            for before, after in zip(row, row[1:]):
                self.assertLessEqual(before[1], after[0])
        for key, pair in ids.items():
            phases = "".join(phase for phase, _ in pair)
            self.assertIn(phases, ("be", "sf"), key)
            self.assertLessEqual(pair[0][1], pair[1][1])
        return len(ids)

    def test_adds_up_on_every_engine(self):
        for engine in ("analytical", "flow", "packet"):
            with self.subTest(engine):
                trace, report = self.trace("--engine", engine, "--set", "plan.pp=2", "--set",
                                           "plan.tp=2", "--set", "plan.crossing=pp", "--set",
                                           "workload.sequence=1024", "--set",
                                           "workload.global_batch=32")
                self.check_sums(trace, report)
                # One microbatch of pipeline messages each way, at least: messages and arrows.
                self.assertGreater(self.check_rows(trace), 4)
                self.assertEqual(trace["otherData"]["report"]["engine"], engine)

    def test_counters_have_the_same_names_on_every_engine(self):
        """And what spans carry in all is what the report says; of packets queues come on top."""
        names = {}
        for engine in ("analytical", "flow", "packet"):
            trace, report = self.trace("--engine", engine)
            values = collections.defaultdict(list)
            for event in trace["traceEvents"]:
                if event["ph"] == "C":
                    self.assertEqual(event["pid"], len(trace["otherData"]["processes"]))
                    (kind, value), = event["args"].items()
                    values[event["name"], kind].append((event["ts"], value))
            names[engine] = {name for name, kind in values if kind == "busy"}
            others = {name for name, kind in values if kind != "busy"}
            self.assertEqual("building1 queues" in others, engine == "packet")
            for series in values.values():
                self.assertEqual(series, sorted(series))
                self.assertEqual(series[-1][1], 0)
            first = min(one["begin_ps"] for one in trace["otherData"]["processes"])
            self.assertEqual(first, 0)
            # Data parallelism crosses: all of it in the iteration, some way from its ends.
            for resource in report["resources"]:
                if " to " in resource["name"]:
                    series = values[resource["name"], "busy"]
                    area = sum(value * (until - at)
                               for (at, value), (until, _) in zip(series, series[1:]))
                    self.assertAlmostEqual(area * 1e-6 / report["iteration_time_s"],
                                           resource["busy"], delta=1e-3 * resource["busy"])
        self.assertEqual(names["flow"], names["packet"])
        self.assertEqual(names["analytical"], names["packet"])

    def test_messages_come_from_the_pass_that_sent_them(self):
        # So far that messages are posted passes before they are needed, as far as PFC goes.
        for engine, distance in (("analytical", "1000km"), ("flow", "1000km"), ("packet", "30km")):
            with self.subTest(engine):
                self.check_arrows(engine, distance)

    def check_arrows(self, engine, distance):
        # 1F1B of two stages with four microbatches: stage 0 sends one activation after each forward,
        # and gets one gradient for each, which stage 1 sends after each backward.
        trace, _ = self.trace("--set", "plan.pp=2", "--set", "plan.tp=2", "--set",
                              "plan.crossing=pp", "--set", "cluster.cross.distance=" + distance,
                              "--engine", engine, "--trace-ranks", "classes")
        processes = trace["otherData"]["processes"]
        passes = collections.defaultdict(list)
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event["cat"] == "pass":
                passes[event["pid"]].append(event)
        begun = {event["id"]: event for event in trace["traceEvents"] if event["ph"] == "b"}
        ends = {event["id"]: event for event in trace["traceEvents"] if event["ph"] == "f"}
        arrows = [event for event in trace["traceEvents"] if event["ph"] == "s"]
        self.assertEqual(len(arrows), 2 * 4)
        # Readers bind arrows to slices that they have read.
        phases = [event["ph"] for event in trace["traceEvents"]]
        self.assertGreater(phases.index("s"), len(phases) - 1 - phases[::-1].index("X"))
        for arrow in arrows:
            sender, = (one for one in passes[arrow["pid"]]
                       if one["ts"] <= arrow["ts"] < one["ts"] + one["dur"])
            to = ends[arrow["id"]]
            # It is for the pass of the same kind of the same microbatch on the other stage.
            receiver, = (one for one in passes[to["pid"]] if one["ts"] == to["ts"])
            self.assertEqual(receiver["name"], sender["name"])
            self.assertEqual(to["bp"], "e")
            self.assertNotEqual(processes[arrow["pid"]]["stage"], processes[to["pid"]]["stage"])
            # A message is posted as its pass ends, and there before its pass begins.
            posted = sender["args"]["begin_ps"] + sender["args"]["dur_ps"]
            message, = (event for event in begun.values() if event["pid"] == to["pid"]
                        and event["args"]["posted_ps"] == posted
                        and event["name"] == arrow["name"])
            self.assertLessEqual(message["args"]["arrived_ps"], receiver["args"]["begin_ps"])
        # The first forward of the last stage has what it begins with.
        last = next(pid for pid, one in enumerate(processes) if one["stage"] == 1)
        first = min(passes[last], key=lambda one: one["ts"])
        self.assertTrue(any(event["pid"] == last and event["ts"] <= first["ts"]
                            for event in ends.values()))

    def test_results_are_not_written_over(self):
        self.assertEqual(subprocess.run([PROGRAM, "run", str(STUDY), "--set", "search={}", "--db",
                                         "a.db"], cwd=self.folder,
                                        capture_output=True).returncode, 0)
        before = (self.folder / "a.db").read_bytes()
        ended = subprocess.run([PROGRAM, "run", str(STUDY), "--set", "search={}", "--db", "a.db",
                                "--trace", "a.db"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--trace", ended.stderr)
        self.assertEqual((self.folder / "a.db").read_bytes(), before)

    def test_a_database_to_be_is_not_a_place_for_it(self):
        os.symlink("d.db", self.folder / "link.json")
        for words in (("--db", "d.db", "--trace", "d.db"), ("--db", "d.db", "--trace", "./d.db"),
                      ("--db", "d.db", "--trace", "link.json"),
                      ("--db", "link.json", "--trace", "d.db"),
                      ("--db", "d.db", "--trace", "d.db-journal"),
                      ("--db", "d.db", "--trace", "d.db-wal"),
                      ("--trace", "small-two-buildings.db")):
            with self.subTest(words):
                ended = subprocess.run([PROGRAM, "run", str(STUDY), "--set", "search={}", *words],
                                       cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 2, ended.stdout)
                self.assertIn("is where results are kept", ended.stderr)
                self.assertEqual([one.name for one in self.folder.iterdir()], ["link.json"])

    def test_one_of_each_class(self):
        trace, _ = self.trace("--engine", "flow", "--trace-ranks", "classes", "--set",
                              "plan.pp=2", "--set", "plan.tp=2", "--set", "workload.sequence=1024")
        self.check_rows(trace)
        stages = [one["stage"] for one in trace["otherData"]["processes"]]
        self.assertEqual(sorted(set(stages)), [0, 1])
        self.assertFalse(trace["otherData"]["whole"])

    def test_wrong_uses_are_refused(self):
        for words, said in ((("--trace", "no/such/folder.json"), "--trace"),
                            (("--trace", "-"), "--trace"),
                            (("--trace", str(STUDY)), "is what is read"),
                            (("--trace-ranks", "all"), "--trace"),
                            (("--trace", "a.json", "--trace-ranks", "some"), "some"),
                            (("--trace", "a.json", "--engine", "command:true"), "analytical")):
            with self.subTest(words):
                ended = self.run_program(*words)
                self.assertEqual(ended.returncode, 2, ended.stdout)
                self.assertIn(said, ended.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_plan_that_cannot_run_writes_nothing(self):
        ended = self.run_program("--trace", "a.json", "--set", "plan.crossing=pp", "--set",
                                 "plan.pp=1")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
