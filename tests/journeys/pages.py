# SPDX-License-Identifier: GPL-2.0-only
"""What pages tell a reader to write and to type, and what they say is printed then."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
BLOCK = re.compile(r"^```(\w*)(?: +(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d.,]*")
ELIDED = "..."


def words_of(block):
    """The calls of the wrapper in a block, as lists of words without ./scaleacross."""
    lines = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    return [words[1:] for words in lines if words and words[0] == "./scaleacross"]


def commands_of(text):
    """The calls of the wrapper in the blocks of a page that name no language."""
    return [words for language, _, block in BLOCK.findall(text) if not language
            for words in words_of(block)]


def call(words, folder, check=True):
    """Does what the wrapper does for these words once all is built; gives the ended process."""
    command = [PROGRAM, *words]
    if words[0] == "report":
        command = [sys.executable, "-BP", "-m", "scaleacross.report", *words[1:]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{shlex.join(words)} ended with {done.returncode}: {done.stderr}")
    return done


def pattern(line, numbers):
    """Of a line of a page: `...` stands for anything, blanks for blanks, and with `numbers` every
    number for any number. Groups are what stands between `...`."""
    def piece(text):
        words = []
        for word in text.split():
            parts = NUMBER.split(word) if numbers else [word]
            words.append(NUMBER.pattern.join(map(re.escape, parts)))
        return r"\s+".join(words)
    pieces = [piece(part) for part in line.split(ELIDED)]
    return re.compile(r"\s*" + r"\s*.*?\s*".join(f"({part})" for part in pieces) + r"\s*$")


def compare(said, printed):
    """Holds a page's output against what was printed: gives the lines that are not there, and the
    output with its numbers brought up to date. A line `...` stands for any lines."""
    missing, updated = [], []
    lines = [line.rstrip() for line in printed.splitlines()]
    at, anywhere = 0, True
    for line in said.splitlines():
        if not line.strip() or line.strip() == ELIDED:
            anywhere |= line.strip() == ELIDED
            updated.append(line)
            continue
        while at < len(lines) and not lines[at] and line.strip():
            at += 1
        ahead = lines[at:] if anywhere else lines[at:at + 1]
        exact = [i for i, one in enumerate(ahead) if pattern(line, False).match(one)]
        alike = exact or [i for i, one in enumerate(ahead) if pattern(line, True).match(one)]
        if not exact:
            missing.append(line)
        if alike:
            parts = [part or "" for part in
                     pattern(line, True).match(ahead[alike[0]]).groups()]
            indent = re.match(r"\s*", line)[0]
            updated.append(line if exact else indent + f" {ELIDED} ".join(parts).strip())
            at, anywhere = at + alike[0] + 1, False
        else:
            updated.append(line)
            anywhere = True
    return missing, "\n".join(updated) + "\n"


class Walk:
    """Goes through a page in a folder: writes its files, runs its commands, keeps what they print.

    A file is a block of a language with a name behind it; a block `text` is what the command
    before it prints."""

    def __init__(self, text, folder):
        self.folder, self.files, self.calls = pathlib.Path(folder), {}, []
        self.missing, self.printed, self.updated = [], "", text
        for language, name, block in BLOCK.findall(text):
            if name:
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(block, encoding="utf-8")
                self.files[name] = block
            elif language == "text":
                missing, updated = compare(block, self.printed)
                self.missing += missing
                self.updated = self.updated.replace(block, updated, 1)
            elif not language:
                self.printed = ""
                for words in words_of(block):
                    done = call(words, self.folder)
                    self.calls.append(words)
                    self.printed += done.stdout + done.stderr
