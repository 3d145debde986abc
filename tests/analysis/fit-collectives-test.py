#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Knobs of collectives are found again from times that they made, and the page's table is this."""

import concurrent.futures
import contextlib
import io
import os
import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"])
TABLE = TOP / "tests" / "validation" / "collectives" / "published.csv"
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "collectives.md"

sys.path.insert(0, str(TOP / "analysis"))
import collective_lines  # noqa: E402
import fit_collectives  # noqa: E402
import measured_collectives as measured  # noqa: E402
import measuring  # noqa: E402
import setup_marks  # noqa: E402

SRD = next(knobs for knobs in fit_collectives.KNOBS if "EFA" in knobs.words)


class FitCollectives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = measuring.read_table(TABLE, collective_lines.COLUMNS)
        cls.rows = fit_collectives.Rows(cls.table, PROGRAM)

    def printed(self):
        """Cells of the page's table by setup."""
        lines = PAGE.read_text().splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("| setup | large: n"))
        rows = {}
        for line in lines[begin + 2:]:
            if not line.startswith("|"):
                break
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows[cells[0]] = cells[1:]
        return rows

    def test_the_page_has_every_setup_as_it_is_now(self):
        printed = self.printed()
        self.assertEqual(set(printed), set(self.rows.runs))
        marks = setup_marks.marks_of(self.table, collective_lines.machines_of(PROGRAM))
        for setup, cells in printed.items():
            self.assertEqual(cells[6], fit_collectives.words_of(marks, setup), setup)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = dict(zip(self.rows.runs, pool.map(lambda setup: self.rows.errors(setup, {}),
                                                       self.rows.runs)))
        for setup, cells in printed.items():
            large, small = fit_collectives.classes(errors[setup])
            with self.subTest(setup=setup):
                self.assertEqual([cells[0], cells[1], cells[3], cells[4]],
                                 [str(large[0] or ""), measured.percent(large[1]),
                                  str(small[0] or ""), measured.percent(small[1])])

        # By operation, what is shipped is as it is now; what is predicted takes a quarter of an hour.
        found = [(setup, errors[setup], None) for setup in self.rows.runs]
        for line in fit_collectives.markdown_by_operation(found).splitlines()[2:]:
            shipped = line.rsplit("|", 3)[0]
            self.assertIn(f"\n{shipped}|", PAGE.read_text())

    def test_a_prediction_is_that_of_the_page(self):
        setup = "aws-p4de-2"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = fit_collectives.by_setup(self.rows, [setup], pool)
        self.assertEqual(fit_collectives.markdown(found, {}).splitlines()[-1].split("|")[2:-1],
                         [f" {cell} " if cell else "  " for cell in self.printed()[setup]])

    def test_knobs_are_found_again(self):
        """Times that the program has made with a knob at 1.4 times its start, one of the steps, are
        fitted by that value, and the other knobs stay at their start, which is one, too."""
        truth = {key: start for key, (start, _) in SRD.values.items()}
        truth["network.nccl_net_step"] *= 1.4
        lines = [line for line in self.table if line["setup"] == "aws-p4de-2"][::4]
        own = fit_collectives.Rows(lines, PROGRAM)
        settings = fit_collectives.text_of(truth, SRD)
        for of_setup in own.runs.values():
            for run, rows in of_setup.items():
                made = {size: ratio * time for (size, time), (_, _, ratio) in
                        zip(rows, own.errors("aws-p4de-2", settings))}
                of_setup[run] = [(size, made[size]) for size, _ in rows]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            values = fit_collectives.fit(own, ["aws-p4de-2"], SRD, pool)
        self.assertEqual({key: round(value, 6) for key, value in values.items()},
                         {key: round(value, 6) for key, value in truth.items()})

    def test_setups_that_are_not_there(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = fit_collectives.main([str(TABLE), "--setup", "nowhere", "--program",
                                         str(PROGRAM)])
        self.assertEqual(code, 2)
        self.assertIn("--setup: no line of 'nowhere' becomes a run", said.getvalue())
        self.assertIn("aws-p4de-2", said.getvalue())


if __name__ == "__main__":
    unittest.main()
