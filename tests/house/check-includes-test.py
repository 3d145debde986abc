#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""check-includes.py must find each kind of forbidden arrow, and nothing in a tree without one."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-includes.py")


def check(files):
    """Exit code and output of the check on a tree of {path below contrib/scaleacross: text}."""
    with tempfile.TemporaryDirectory() as top:
        for path, text in files.items():
            path = os.path.join(top, "contrib", "scaleacross", path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, CHECK, top], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckIncludes(unittest.TestCase):
    def assert_reported(self, files, place, words):
        code, output = check(files)
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertTrue(output.startswith(f"contrib/scaleacross/{place}: "), output)
        self.assertIn(words, output)

    def test_forward_arrows_are_allowed(self):
        code, output = check({
            "core/base/units.h": "#include <cstdint>\n#include <boost/math/constants.hpp>\n",
            "core/engine/engine.h": '#include "core/base/units.h"\n',
            "core/io/yaml.cc": '#include <yaml-cpp/yaml.h>\n#include "core/engine/engine.h"\n',
            "model/nic.h": '#include "ns3/net-device.h"\n#include "core/base/units.h"\n',
            "model/nic.cc": '#include "nic.h"\n',
            "helper/nic-helper.h": '#include "ns3/nic.h"\n#include "core/engine/engine.h"\n',
            "cli/main.cc": '#include "ns3/nic-helper.h"\n#include <CLI/CLI.hpp>\n',
        })
        self.assertEqual((code, output.strip()), (0, ""))

    def test_arrow_that_runs_back(self):
        self.assert_reported({"core/engine/engine.h": "",
                              "core/topology/fabric.h":
                                  '// text\n\n#include "core/engine/engine.h"\n'},
                             "core/topology/fabric.h:3", "topology must not include engine")

    def test_relative_path(self):
        self.assert_reported({"core/spec/plan.h": "",
                              "core/program/program.h": '#  include "../spec/plan.h"\n'},
                             "core/program/program.h:1", "program must not include spec")

    def test_library_that_trees_do_not_link(self):
        self.assert_reported({"core/io/log.cc": "#include <yaml-cpp/yaml.h>\n#include <fmt/core.h>\n"},
                             "core/io/log.cc:2", "io must not include a library other than")
        self.assert_reported({"helper/nic-helper.cc": "#include <fmt/core.h>\n"},
                             "helper/nic-helper.cc:1", "helper must not include a library other")

    def test_ns3_in_core(self):
        self.assert_reported({"core/engine/engine.cc": '#include "ns3/simulator.h"\n'},
                             "core/engine/engine.cc:1", "engine must not include ns3")

    def test_helper_seen_from_model(self):
        self.assert_reported({"helper/nic-helper.h": "",
                              "model/nic.cc": '#include "ns3/nic-helper.h"\n'},
                             "model/nic.cc:1", "model must not include helper")

    def test_store_seen_from_io(self):
        self.assert_reported({"core/store/db.h": "",
                              "core/io/yaml.cc": '#include "core/store/db.h"\n'},
                             "core/io/yaml.cc:1", "io must not include store")

    def test_cli_seen_from_helper(self):
        self.assert_reported({"cli/run.h": "",
                              "helper/nic-helper.cc": '#include "cli/run.h"\n'},
                             "helper/nic-helper.cc:1", "helper must not include cli")

    def test_room_of_the_model_that_comes_later(self):
        files = {"model/rdma/nic.h": "",
                 "model/guard.h": "",
                 "model/rdma/nic.cc": '#include "nic.h"\n#include "ns3/guard.h"\n',
                 "model/switch/switch.cc": '#include "ns3/nic.h"\n'}
        self.assert_reported(files, "model/switch/switch.cc:1",
                             "model/switch must not include model/rdma")

    def test_library_in_core(self):
        self.assert_reported({"core/explore/search.cc": "#include <sqlite3.h>\n"},
                             "core/explore/search.cc:1", "explore must not include a library")


if __name__ == "__main__":
    unittest.main()
