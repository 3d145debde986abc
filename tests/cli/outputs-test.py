#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No option of any command writes over a file that the command reads, or that its study names.

Which options there are, the help of each command says; which of them write, a call with a new name
shows: the file is there afterwards. Each of those then gets every file that is read, by every way
to it. So an option that is added is held to it without a word here.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
OPTION = re.compile(r"^  (?:-\w,)?(--[a-z0-9-]+) (?:TEXT|FILE|DB|KEY)", re.MULTILINE)

FILES = {
    "study.yaml": """\
study: small
model: model/config.json
workload: {sequence: 512, global_batch: 16}
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: ./gpu.yaml, fabric: {rails: true, spines: 2}}
  cross: {distance: 10km, oversubscription: 4}
plan: {tp: 4, pp: 2, crossing: dp, sharding: hsdp, schedule: 1f1b}
engines: [analytical, "predictions:guess.csv", "mine=command:sh mine.sh"]
""",
    "gpu.yaml": "preset: h100\ncurve: ./curve.yaml\n",
    "curve.yaml": (TOP / "contrib/scaleacross/data/curves/h100.yaml").read_text(),
    "model/config.json": """\
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 512,
 "intermediate_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 8,
 "num_key_value_heads": 8, "vocab_size": 4096, "tie_word_embeddings": false}
""",
    "guess.csv": "tp,time_s\n4,0.01\n",
    "mine.sh": "echo '{\"time_s\": 0.02}'\n",
    "log.txt": "# Collective test starting: all_reduce_perf\n"
               "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
               "1048576 262144 float sum -1 100 1 1 0 100 1 1 0\n",
    "machine.yaml": "preset: dgx-h100\n",
    "sc21.csv": (TOP / "tests/validation/iteration-time/sc21.csv").read_text(),
    "sc21.yaml": (TOP / "tests/validation/iteration-time/sc21.yaml").read_text(),
}
CLUSTER = FILES["study.yaml"].split("cluster:")[1].split("plan:")[0]
FILES["replay.yaml"] = f"study: replay\ntrace: t\ncluster:{CLUSTER}"  # of what `export` writes
STUDY = ["study.yaml", "gpu.yaml", "curve.yaml", "model/config.json", "guess.csv", "mine.sh"]
# Commands and what they read, or what the study names though they do not read it.
CALLS = [
    ("explore study.yaml", STUDY),
    ("explore study.yaml --sweep cluster.cross.distance=1km,30km", STUDY),
    ("run study.yaml", STUDY),
    ("run study.yaml --engine predictions:guess.csv", STUDY),
    ("run study.yaml --set model=llama3-8b --set engines=[analytical]", STUDY),
    ("run replay.yaml", ["replay.yaml", "t.0.et", "t.15.et", "t.groups.json"]),
    ("collective replay.yaml -b 1M -e 1M", ["t.0.et", "t.15.et", "t.groups.json"]),
    ("run --from kept.db", ["kept.db"]),
    ("compare study.yaml --engines analytical,flow", STUDY),
    ("schedule study.yaml", STUDY),
    ("schedule --from kept.db", ["kept.db"]),
    ("collective study.yaml -b 1M -e 1M", STUDY),
    ("collective --machine ./machine.yaml --nodes 2 --like log.txt", ["machine.yaml", "log.txt"]),
    ("require study.yaml --loss 90% --of distance", STUDY),
    ("sensitivity study.yaml --of cluster.cross.distance", STUDY),
    ("slurm study.yaml --shards 2", STUDY),
    ("calibrate study.yaml --budget 2s", STUDY),
    ("iterations sc21.csv", ["sc21.csv", "sc21.yaml"]),
    ("export study.yaml --format nccl", STUDY),
    ("export kept.db --csv", ["kept.db"]),
    ("show study.yaml --topology", STUDY),
    ("show fabric.txt --topology", ["fabric.txt"]),
    # They read no file of a user's.
    ("list gpus", []),
    ("fairness --control dcqcn --senders 2 --warm-up 1ms --measured 1ms", []),
    ("bench permutation --hosts 4", []),
    ("merge out.db kept.db", ["kept.db"]),
]
# So that a call that fails for another reason is not taken for one without outputs.
EXPECTED = {"explore": {"--db", "--csv"}, "run": {"--db", "--csv", "--trace"},
            "compare": {"--db", "--csv"}, "schedule": {"--csv", "--output"},
            "collective": {"--db", "--csv"}, "require": {"--csv"}, "sensitivity": {"--csv"},
            "slurm": {"--output"}, "calibrate": {"--csv", "--output"}, "iterations": {"--csv"},
            "export": {"--output"}, "show": {"--output"}, "list": {"--csv"},
            "fairness": {"--csv"}, "bench": set(), "merge": set()}


class OutputsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "model").mkdir()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        for words in ("show study.yaml --topology -o fabric.txt",
                      "explore study.yaml --db kept.db",
                      "export study.yaml --format chakra -o t"):
            ended = self.run_program(*words.split())
            self.assertEqual(ended.returncode, 0, ended.stderr)
        self.maxDiff = None

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def names(self):
        return {path.name for path in self.folder.iterdir()}

    def clean(self, before):
        for name in self.names() - before:
            os.remove(self.folder / name)

    def options(self, command):
        return OPTION.findall(self.run_program(command, "--help").stdout)

    def outputs(self, words, before):
        """Options with which a new file of that name comes into being."""
        found = set()
        given = {word for word in words if word.startswith("--")}
        for option in self.options(words[0]):
            if option in given:
                continue
            self.run_program(*words, option, "new.svg")
            if "new.svg" in self.names():
                found.add(option)
            self.clean(before)
        return found

    def state(self, inputs):
        return {name: (hashlib.sha256((self.folder / name).read_bytes()).hexdigest(),
                       (self.folder / name).stat().st_ino) for name in inputs}

    def ways(self, name):
        """Paths to a file, with a name that options take which look at its end."""
        place = self.folder / name
        os.symlink(place, self.folder / "link.svg")
        os.symlink("link.svg", self.folder / "second.svg")
        os.link(place, self.folder / "other-name.svg")
        os.symlink(".", self.folder / "round")
        return [name, f"./{name}", str(place), f"round/{name}", "link.svg", "second.svg",
                "other-name.svg"]

    def hold(self, words, option, name, inputs, before):
        ways = self.ways(name)
        if name != inputs[0]:
            ways = ways[-1:]
        there = self.names()
        kept = self.state(inputs)
        if option == "--db" and name == "kept.db":
            ways = []  # results are added to it
        try:
            for path in ways:
                ended = self.run_program(*words, option, path)
                with self.subTest(f"{' '.join(words)} {option} {path}", name=name):
                    self.assertEqual(self.state(inputs), kept)
                    self.assertEqual(self.names(), there)
                    self.assertEqual(ended.returncode, 2, ended.stderr)
                    self.assertEqual(ended.stdout, "")
                    self.assertIn(path, ended.stderr)
                    if path.endswith(".svg") or option == "--csv":
                        self.assertIn(option, ended.stderr)
                        self.assertRegex(ended.stderr, "is what is read|--output .*: ")
        finally:
            self.clean(before)

    def test_the_table_has_every_command(self):
        said = self.run_program("--help").stdout
        commands = set(re.findall(r"^  ([a-z]+) {2,}", said.split("Subcommands:")[1], re.MULTILINE))
        self.assertEqual({words.split()[0] for words, _ in CALLS}, commands)
        self.assertEqual(set(EXPECTED), commands)

    def test_no_output_goes_over_an_input(self):
        before = self.names()
        seen = {}
        for words, inputs in ((text.split(), inputs) for text, inputs in CALLS):
            if words[0] not in seen:
                seen[words[0]] = self.outputs(words, before)
            for option in sorted(seen[words[0]]):
                for name in inputs:
                    self.hold(words, option, name, inputs, before)
        self.assertEqual(seen, EXPECTED)

    def hold_refused(self, words, said, inputs):
        there, kept = self.names(), self.state(inputs)
        ended = self.run_program(*words.split())
        with self.subTest(words):
            self.assertEqual(self.state(inputs), kept)
            self.assertEqual(self.names(), there)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertEqual(ended.stdout, "")
            self.assertIn(said, ended.stderr)

    def test_what_sqlite_writes_beside_a_database(self):
        (self.folder / "other-wal").write_text(FILES["study.yaml"])
        for words in ("run other-wal --db other", "explore other-wal --db ./other",
                      "compare other-wal --db other"):
            self.hold_refused(words, "--db: '" + words.split()[-1] + "' has beside it what is read",
                              ["other-wal"])
        (self.folder / "link").symlink_to("kept.db")
        for name in ("link", "kept.db-wal", "kept.db-journal"):
            self.hold_refused(f"schedule --from kept.db --csv {name}", "is what is read", ["kept.db"])

    def test_the_files_of_traces(self):
        """The first of them would be replaced before the last is found to be read."""
        (self.folder / "t.0.et").rename(self.folder / "u.0.et")
        (self.folder / "t.0.et").symlink_to("u.0.et")
        self.hold_refused("export replay.yaml --format chakra -o ./t", "--output: './t.0.et' is what "
                          "is read", ["t.0.et", "t.1.et", "t.groups.json"])

    def test_two_options_have_two_files(self):
        (self.folder / "link.json").symlink_to("rows.csv")
        for words, said in (
                ("run study.yaml --trace rows.csv --csv ./rows.csv", "is what --trace writes, too"),
                ("run study.yaml --trace link.json --csv rows.csv", "is what --trace writes, too"),
                ("schedule study.yaml -o a.svg --csv a.svg", "is what --output writes, too"),
                ("calibrate study.yaml --output a.json --csv a.json", "is what --csv writes, too"),
                ("run study.yaml --db a.db --csv a.db", "--csv: 'a.db' is where results are kept"),
                ("slurm study.yaml --shards 2 -o a.db --db a.db", "is where results are kept")):
            self.hold_refused(words, said, ["study.yaml"])
        ended = self.run_program("run", "study.yaml", "--csv", "/dev/null", "--trace", "/dev/null")
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_corrections_are_added_to(self):
        """A study may run with the corrections that calibrate writes, and what it has is kept."""
        for _ in range(2):
            ended = self.run_program("calibrate", "study.yaml", "--budget", "2s", "--output",
                                     "c.json", "--set", "engines=[analytical, 'corrected:c.json']")
            self.assertEqual(ended.returncode, 0, ended.stderr)
        self.hold_refused("run study.yaml --engine corrected:c.json --csv c.json", "is what is read",
                          ["c.json"])

    def test_a_study_from_standard_input(self):
        with (self.folder / "study.yaml").open() as study:
            ended = subprocess.run([PROGRAM, "run", "-", "--csv", "study.yaml"], cwd=self.folder,
                                   capture_output=True, text=True, stdin=study)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--csv: 'study.yaml' is what is read", ended.stderr)
        self.assertEqual((self.folder / "study.yaml").read_text(), FILES["study.yaml"])


if __name__ == "__main__":
    unittest.main()
