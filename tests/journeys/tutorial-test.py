#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tutorial: its files are written, its commands run, and every figure on it is found again.

With --accept the page's outputs get the numbers that are printed now."""

import json
import re
import sys
import tempfile
import unittest

from pages import BLOCK, TOP, Walk, call, compare

PAGE = TOP / "contrib" / "scaleacross" / "doc" / "tutorial.md"
MARK = re.compile(r"<!--=(\S+?)-->(.*?)<!--/-->", re.DOTALL)
BEST = [f"--set=plan.{word}" for word in ("tp=8", "microbatch=8", "recompute=selective")]
LINK = "old/spine0--new/spine0"


def parameters(config):
    """Of a dense model with gated MLPs: attention of heads and fewer key heads, three matrices, two
    norms a layer; embedding, head and a norm."""
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    shared = config["num_key_value_heads"] / heads
    layer = (2 + 2 * shared) * hidden**2 + 3 * hidden * config["intermediate_size"] + 2 * hidden
    return (config["num_hidden_layers"] * layer + hidden +
            2 * config["vocab_size"] * hidden)


class Tutorial(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.text = PAGE.read_text(encoding="utf-8")
        cls.walk = Walk(cls.text, folder.name)

    def asked(self, *words):
        return json.loads(call([*words, "--json"], self.walk.folder).stdout)

    def test_every_output_is_what_is_printed(self):
        self.assertEqual(self.walk.missing, [])

    def test_every_step_is_there(self):
        self.assertEqual([words[0] for words in self.walk.calls],
                         ["show", "run", "explore", "explore", "require", "run", "run", "compare",
                          "run", "report"])
        for name in ("fabric.svg", "mine.db", "trace.json", "mine.html"):
            self.assertGreater((self.walk.folder / name).stat().st_size, 1000, name)

    def test_files_are_called_by_their_names(self):
        prose = BLOCK.sub("", self.text)
        for name in self.walk.files:
            self.assertIn(f"`{name}`", prose)

    def test_figures_of_sentences_follow(self):
        study = "mine/study.yaml"
        first = self.asked("run", study)["iteration_time_s"]
        found = self.asked("explore", study)
        best, site = found["best"]["iteration_time_s"], found["one_site"]["iteration_time_s"]
        failed = [self.asked("run", study, *BEST, "--set", f"events=[{{kind: {event}, at: 0s, "
                             f"target: {LINK}}}]")["iteration_time_s"]
                  for event in ("link-failure", "degradation, factor: 0.5")]
        sweep = [words for words in self.walk.calls if "--sweep" in words][0]
        points = self.asked(*sweep)["values"][-2:]
        low, high = (float(point["value"].removesuffix("km")) for point in points)
        before, after = (point["placements"]["pp"]["iteration_time_s"] -
                         point["placements"]["dp"]["iteration_time_s"] for point in points)
        figures = {
            "parameters": f"{parameters(json.loads(self.walk.files['mine/config.json'])) / 1e9:.1f}",
            "gain": f"{100 * (1 - best / first):.1f} %",
            "even": f"{low + (high - low) * before / (before - after):,.0f}",
            "spread": f"{100 * (best / site - 1):.1f} %",
            "lost": f"{100 * (1 - site / best):.2f} %",
            "dead": f"{100 * (failed[0] / best - 1):.1f} %",
            "slow": f"{100 * (failed[1] / best - 1):.1f} %",
        }
        self.assertEqual(dict(MARK.findall(self.text)), figures)

    def test_no_other_figure_stands_in_a_sentence(self):
        blocks = " ".join(block for _, _, block in BLOCK.findall(self.text))
        prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", MARK.sub("", BLOCK.sub("", self.text)))
        for figure in re.findall(r"\d[\d.,]*(?: %| km)?", prose):
            self.assertIn(figure.rstrip(".,"), blocks + " 90 %")  # which the page of sureness has

    def test_a_wrong_figure_is_found_and_mended(self):
        said = "cap 2.5 s ... half\n...\nlast  7 %\n"
        printed = "first\ncap  2.7 s and  half\n\nbetween\nlast 8 %\n"
        self.assertEqual(compare(said, printed)[0], ["cap 2.5 s ... half", "last  7 %"])
        mended = compare(said, printed)[1]
        self.assertEqual(mended, "cap  2.7 s ... half\n...\nlast 8 %\n")
        self.assertEqual(compare("...\n" + mended, printed)[0], [])
        self.assertEqual(compare("other\n", printed)[0], ["other"])

    def test_what_the_best_plan_is_run_by_is_the_best(self):
        study = "mine/study.yaml"
        run = self.asked("run", study, *BEST)
        self.assertEqual(run["plan"]["label"],
                         self.asked("explore", study)["best"]["plan"]["label"])

    def test_the_trace_has_the_time_of_the_run(self):
        trace = json.loads((self.walk.folder / "trace.json").read_text(encoding="utf-8"))
        compared = self.asked("compare", "mine/small.yaml")["rows"]
        time, = [row["iteration_time_s"] for row in compared
                 if row["engine"] == "packet" and row["plan"]["pp"] == 3]
        self.assertEqual(trace["otherData"]["report"]["iteration_time_s"], time)


if __name__ == "__main__":
    if sys.argv[1:] == ["--accept"]:
        with tempfile.TemporaryDirectory() as scratch:
            PAGE.write_text(Walk(PAGE.read_text(encoding="utf-8"), scratch).updated,
                            encoding="utf-8")
    else:
        unittest.main()
