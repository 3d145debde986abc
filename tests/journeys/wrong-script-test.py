#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Scripts that are wrong, and catch nothing, say what is wrong and what to do, and fail.

The scripts are examples of the module, which set nothing up for errors, with values that do not
work. Each is run as a user runs it.
"""

import os
import pathlib
import subprocess
import unittest

BIN = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"]).parent


def run(name, *options):
    return subprocess.run([BIN / name, *options], capture_output=True, text=True, check=False)


class WrongScripts(unittest.TestCase):
    def expect(self, ended, *parts):
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertTrue(ended.stderr.startswith("error: "), ended.stderr)
        for part in parts:
            self.assertIn(part, ended.stderr)
        self.assertNotIn("terminate", ended.stderr)

    def test_a_file_that_is_not_there(self):
        self.expect(run("adjacency-fabric", "--topology=/nowhere.txt"),
                    "/nowhere.txt: cannot be read", "\n  allowed: an adjacency file")

    def test_spraying_with_go_back_n(self):
        self.expect(run("one-flow", "--ns3::FabricSwitch::PathSelector=ns3::RandomSpraySelector"),
                    "RdmaQueuePair::RetransmissionMode: random spray lets packets overtake each other",
                    "go-back-N", "\n  allowed: RetransmissionMode SelectiveRepeat", "\n  remedy: ")

    def test_a_buffer_that_is_too_small(self):
        self.expect(run("one-flow", "--ns3::FabricSwitch::BufferSize=1000"),
                    "headroom", "\n  allowed: ", "\n  remedy: ")


if __name__ == "__main__":
    unittest.main()
