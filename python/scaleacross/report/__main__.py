# SPDX-License-Identifier: GPL-2.0-only
"""Writes the report of a database: ./scaleacross report DB."""

from __future__ import annotations

import argparse
import pathlib
import sys

from scaleacross.report.token_count import parse_tokens


def parse(arguments: list[str] | None) -> argparse.Namespace:
    def positive(text: str) -> int:
        if not text.isdecimal() or int(text) == 0 or int(text) > 2**63 - 1:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 on")
        return int(text)

    def token_count(text: str) -> float:
        try:
            return parse_tokens(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    parser = argparse.ArgumentParser(
        prog="scaleacross report", allow_abbrev=False,
        description="Writes what a database holds as one HTML file that opens without a network: "
        "the answer and how sure it is, the fabric, what sits where, where the time goes, sweeps, "
        "the best plans, baselines, links, caveats and where it comes from.",
        epilog="example: ./scaleacross report small-two-buildings.db -o report.html")
    parser.add_argument("db", metavar="DB", type=pathlib.Path,
                        help="database that explore, run or compare have written")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path,
                        default=pathlib.Path("report.html"),
                        help="file to write, .html; replaced if it exists; default: report.html")
    parser.add_argument("--search", metavar="N", type=positive,
                        help="number of the search; default: the only one, or that of the study as its "
                        "file says it, without --set or --sweep")
    parser.add_argument("--top", metavar="N", type=positive, default=10,
                        help="how many of the best plans to show; default: 10")
    parser.add_argument("--tokens", metavar="N", type=token_count, default=1e12,
                        help="tokens of the whole training, such as 15T, for days and cost; default: "
                        "1T")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".html", ".htm"):
        parser.error(f"-o {options.output}: the name has to end in .html or .htm")
    if options.top > 1000:
        parser.error(f"--top {options.top}: allowed are 1 to 1000")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)

    def refuse(text: object) -> int:
        print(f"scaleacross report: error: {text}", file=sys.stderr)
        return 2

    try:
        from scaleacross.database import InputError
        from scaleacross.program import ProgramError
        from scaleacross.report.page import write_page
    except ModuleNotFoundError as missing:
        name = missing.name.split(".")[0] if missing.name else ""
        return refuse(f"{missing} for {sys.executable}; on Debian: sudo apt-get install "
                      f"python3-{name}, then /usr/bin/python3; elsewhere: {sys.executable} -m pip "
                      f"install {name}")
    try:
        write_page(options.db, options.output, options.search, options.top, options.tokens)
    except (InputError, ProgramError) as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"-o {options.output}: cannot be written: {error.strerror}")
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
