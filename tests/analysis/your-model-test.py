#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What models are asked and answer keeps to the schemas; the example's table is what is found."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import jsonschema

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SCHEMAS = TOP / "contrib" / "scaleacross" / "schemas"

sys.path.insert(0, str(TOP / "analysis"))
import your_model  # noqa: E402

DRAWS = int(os.environ.get("SCALEACROSS_DRAWS", 12))
SEED = int(os.environ.get("SCALEACROSS_SEED", 1))


def schema(name):
    read = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(read)
    return jsonschema.Draft202012Validator(read)


def draw_study(random_):
    """A study as JSON, which is YAML: dense or of experts, in one to three buildings."""
    experts = random_.choice([0, 4, 8])
    model = {"name": "drawn", "layers": 8, "hidden": 512, "heads": 8, "head_dim": 64,
             "vocabulary": 4096}
    if experts:
        model.update({"experts": experts, "top_k": 2, "expert_ffn": 512})
    else:
        model["dense_ffn"] = 2048
    buildings = random_.choice([1, 2, 3])
    cluster = {"buildings": {"count": buildings, "gpus": random_.choice([8, 16]),
                             "gpus_per_node": 4, "gpu": random_.choice(["h100", "a100-80g"])}}
    if buildings > 1:
        cluster["cross"] = {"distance": "10km", "oversubscription": random_.choice([1, 4]),
                            "loss": random_.choice([0, 1e-6])}
    schedule, chunks = random_.choice([("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("zb-h1", 1),
                                       ("zbv", 2), ("dualpipev", 2)])
    plan = {"tp": random_.choice([1, 2, 4]), "pp": random_.choice([2, 4]), "schedule": schedule,
            "chunks": chunks, "crossing": random_.choice(["dp", "pp"]),
            "sharding": random_.choice(["ddp", "fsdp", "hsdp"]),
            "ep": random_.choice([1, 2]) if experts else 1}
    network = {"collective": random_.choice(["ring", "auto", "halving-doubling", "tree",
                                             "bidirectional-ring", "hierarchical", "nccl"])}
    return {"model": model, "cluster": cluster, "plan": plan,
            "workload": {"sequence": 512, "global_batch": 96,
                         "stack": {"receives": random_.choice(["early", "planned"])}},
            "network": network}


class YourModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ask(self, answer, *words):
        """The exit code of a command with a model that writes down what it is asked; and that."""
        question = self.folder / "question.json"
        question.unlink(missing_ok=True)
        ended = subprocess.run(
            [PROGRAM, *map(str, words), "--engine",
             f"command:cat >question.json; echo '{json.dumps(answer)}'"],
            cwd=self.folder, capture_output=True, text=True, check=False)
        asked = json.loads(question.read_text(encoding="utf-8")) if question.exists() else None
        return ended, asked

    def test_questions(self):
        question = schema("model-question.json")
        random_ = random.Random(SEED)
        asked = 0
        for draw in range(10 * DRAWS):
            if asked == DRAWS:
                break
            study = self.folder / "study.json"
            study.write_text(json.dumps(draw_study(random_)), encoding="utf-8")
            ended, document = self.ask({"iteration_time_s": 1}, "run", study, "--no-store")
            if document is None:  # a plan that cannot run, or a study that says so
                self.assertIn(ended.returncode, (1, 2), ended.stderr)
                continue
            asked += 1
            self.assertEqual(ended.returncode, 0, ended.stderr)
            question.validate(document)
            self.check(document)
            for op in ("all_reduce", "all_to_all", "sendrecv"):
                ended, document = self.ask({"time_s": 1}, "collective", study, "--op", op,
                                           "-b", "1M", "-e", "1M")
                self.assertEqual(ended.returncode, 0, (draw, ended.stderr))
                question.validate(document)
                self.check(document)
        self.assertEqual(asked, DRAWS, "too few of the studies can run")

    def check(self, document):
        """What no schema can say: references lead somewhere, ranks are counted once."""
        tasks = document["tasks"]
        self.assertEqual(sum(each["ranks"] for each in tasks["classes"]), document["ranks"])
        self.assertEqual(sum(each["ranks"] for each in document["buildings"]), document["ranks"])
        sent = 0
        for operations in [each["operations"] for each in tasks["classes"] + tasks["bodies"]]:
            for op in operations:
                if op["do"] == "run":
                    self.assertLess(op["body"], len(tasks["bodies"]))
                elif op["do"] == "collective":
                    self.assertLess(op["collective"], len(tasks["collectives"]))
                sent += op["do"] == "send"
        self.assertEqual(sent, len(tasks["messages"]))
        for each in tasks["collectives"]:
            members = 1
            for axis in each["group"]["axes"]:
                members *= axis["count"]
            self.assertEqual(members, each["group"]["size"])
            for phase in each["phases"]:
                self.assertLessEqual(phase["group"]["size"], each["group"]["size"])

    def test_answers(self):
        """The program takes what the schema takes, and refuses what it refuses."""
        answer = schema("model-answer.json")
        study = self.folder / "study.json"
        study.write_text(json.dumps({**draw_study(random.Random(3)), "plan": {"pp": 1}}),
                         encoding="utf-8")
        for text in ({"iteration_time_s": 1}, {"iteration_time_s": 1, "compute_s": 0.5},
                     {"iteration_time_s": 1, "bubble_s": 0, "exposed": {"tp": 0.1, "dp": 0}},
                     {"infeasible": "so"}, {}, {"iteration_time_s": -1}, {"iteration_time_s": "1"},
                     {"iteration_time_s": 0}, {"iteration_time_s": 1e7},
                     {"iteration_time_s": True}, {"iteration_time_s": 1, "other": 1},
                     {"iteration_time_s": 1, "exposed": {"x": 0}}, {"infeasible": ""},
                     {"iteration_time_s": 1, "compute_s": None}):
            ended, _ = self.ask(text, "run", study, "--no-store")
            taken = ended.returncode == 0 or "cannot run (refused)" in ended.stdout
            self.assertEqual(taken, answer.is_valid(text), (text, ended.stdout, ended.stderr))

    def test_example(self):
        self.assertEqual(your_model.main(["--check", "--program", PROGRAM]), 0)


if __name__ == "__main__":
    unittest.main()
