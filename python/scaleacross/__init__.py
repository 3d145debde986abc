# SPDX-License-Identifier: GPL-2.0-only
"""ScaleAcross from Python: runs studies, and reads what is stored of them.

    import scaleacross

    answer = scaleacross.explore("study.yaml", db="study.db")
    print(answer["best"]["plan"]["label"], answer.frame["iteration_time_s"].min())
    print(scaleacross.read("study.db").plans.groupby("schedule")["iteration_time_s"].min())
"""

from scaleacross.database import Frames, InputError, read
from scaleacross.program import (ProgramError, Result, collective, compare, explore, export,
                                 find_program, run, write_report)

__all__ = ["Frames", "InputError", "ProgramError", "Result", "collective", "compare", "explore",
           "export", "find_program", "read", "run", "write_report"]
