#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables on terminals of several widths: as wide as the terminal, and of the same words."""

import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import tempfile
import termios
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]


def piped(arguments, folder):
    """What the program prints where nobody looks."""
    return subprocess.run([PROGRAM, *arguments], cwd=folder, check=True, capture_output=True,
                          text=True).stdout


def shown(arguments, folder, width):
    """What the program prints on a terminal of this many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=slave,
                          stderr=subprocess.DEVNULL) as child:
        os.close(slave)
        text = b""
        with os.fdopen(master, "rb", buffering=0) as terminal:
            while True:
                try:
                    text += terminal.read(65536)
                except OSError:  # Linux ends a terminal that nobody writes to any more with EIO
                    break
        assert child.wait() == 0, arguments
    return text.decode().replace("\r\n", "\n")


class TerminalTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        study = TOP / "examples" / "small-two-buildings" / "study.yaml"
        piped(["explore", str(study), "--db", "small.db", "--set", "engines=[analytical]"],
              cls.folder.name)

    def hold(self, arguments, width):
        plain = piped(arguments, self.folder.name)
        text = shown(arguments, self.folder.name, width)
        self.assertEqual(sorted(text.split()), sorted(plain.split()))
        # Sentences are the terminal's to wrap.
        kept = set(plain.splitlines())
        wide = [line for line in text.splitlines() if len(line) > width and line not in kept]
        self.assertEqual(wide, [], f"{arguments} on {width} columns")
        return plain, text

    def test_a_ranking(self):
        plain, text = self.hold(["show", "small.db"], 110)
        title = next(line for line in plain.splitlines() if line.lstrip().startswith("#"))
        self.assertGreater(len(title), 110)  # so there is something to do
        self.assertNotIn(title, text)

    def test_lists(self):
        """160 columns hold the longest words of each, of some 80 do."""
        lists = ("models", "gpus", "curves", "stacks", "fabrics", "machines", "schedules",
                 "transports", "plans", "baselines", "engines", "fields")
        few = ("curves", "schedules", "transports", "plans", "engines")
        for what, width in [(what, 160) for what in lists] + [(what, 80) for what in few]:
            with self.subTest(what=what, width=width):
                self.hold(["list", what], width)

    def test_lists_elsewhere(self):
        """What goes to a file or a pager is laid out as on a terminal of 100 columns."""
        for what in ("models", "gpus", "curves", "stacks", "fabrics", "machines", "schedules",
                     "transports", "plans", "baselines", "engines", "fields"):
            with self.subTest(what=what):
                plain = piped(["list", what], self.folder.name)
                self.assertEqual(plain, shown(["list", what], self.folder.name, 100))
                # As wide as the longest words of each column.
                self.assertLessEqual(max(map(len, plain.splitlines())), 160)

    def test_wide_enough(self):
        plain, text = self.hold(["show", "small.db"], 1000)
        self.assertEqual(text, plain)

    def test_narrower_than_the_longest_words(self):
        """Wider than the terminal then, but not endless, and nothing is lost."""
        plain = piped(["list", "models"], self.folder.name)
        text = shown(["list", "models"], self.folder.name, 10)
        self.assertEqual(sorted(text.split()), sorted(plain.split()))


if __name__ == "__main__":
    unittest.main()
