#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The notebook runs from beginning to end, and shows what the program says."""

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import nbclient
import nbformat

TOP = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = TOP / "analysis" / "study.ipynb"
# What a reader might go on with; its output is what is held.
ASKED = """
import json
print(json.dumps({
    "ranked": answer.frame["iteration_time_s"].tolist(),
    "read": frames.plans[frames.plans["search_id"] == first].sort_values(
        "iteration_time_s")["iteration_time_s"].tolist(),
    "alone": run["iteration_time_s"],
    "stored": frames.runs.set_index("run_id").loc[frames.runs["run_id"].min(), "iteration_time_s"],
    "parts": parts.sum(axis=1).tolist(), "best": best["iteration_time_s"].tolist(),
    "times": times.to_dict("list"), "winners": [point["winner"] for point in swept["values"]]}))
folder.cleanup()
"""


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # What IPython and Jupyter keep of a user is kept nowhere.
        kept = unittest.mock.patch.dict(os.environ, {
            name: folder.name for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR",
                                           "MPLCONFIGDIR", "TMPDIR")},
            PYDEVD_DISABLE_FILE_VALIDATION="1")
        kept.start()
        cls.addClassCleanup(kept.stop)
        cls.stored = nbformat.read(NOTEBOOK, as_version=4)
        cls.done = nbformat.read(NOTEBOOK, as_version=4)
        cls.done.cells.append(nbformat.v4.new_code_cell(ASKED))
        nbclient.NotebookClient(cls.done, timeout=300, kernel_name="python3", resources={
            "metadata": {"path": folder.name}}).execute()
        cls.left = sorted(path.name for path in pathlib.Path(folder.name).glob("scaleacross-*"))
        cls.found = json.loads(cls.done.cells[-1].outputs[0].text)

    def test_no_output_is_stored(self):
        nbformat.validate(self.stored)
        for cell in self.stored.cells:
            if cell.cell_type == "code":
                self.assertEqual((cell.outputs, cell.execution_count), ([], None))

    def test_it_draws_two_pictures_and_shows_three_tables(self):
        kinds = [kind for cell in self.done.cells if cell.cell_type == "code"
                 for output in cell.outputs for kind in output.get("data", {})]
        self.assertEqual(kinds.count("image/png"), 2)
        self.assertEqual(kinds.count("text/html"), 3)

    def test_what_is_read_is_what_was_said(self):
        found = self.found
        self.assertEqual(found["ranked"], sorted(found["ranked"]))
        self.assertEqual(found["read"][:len(found["ranked"])], found["ranked"])
        self.assertEqual(found["alone"], found["stored"])
        self.assertGreaterEqual(found["alone"], found["ranked"][0])

    def test_parts_are_of_the_time(self):
        for parts, time in zip(self.found["parts"], self.found["best"]):
            self.assertGreater(parts, 0.5 * time)
            self.assertLessEqual(parts, time * (1 + 1e-9))  # the slowest rank against the mean

    def test_who_wins_takes_least(self):
        for i, winner in enumerate(self.found["winners"]):
            times = {crossing: column[i] for crossing, column in self.found["times"].items()}
            self.assertEqual(min(times, key=times.get), winner)

    def test_nothing_stays(self):
        self.assertEqual(self.left, [])


if __name__ == "__main__":
    unittest.main()
