#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The study's picture: a collective and a training step over transports, paths, distance and loss.

Drives `scaleacross collective` and `scaleacross run` at packet level and knows no more of the
program than their arguments and keys. Writes every row to a file as it is measured and goes on from
there the next time; then one table (Markdown or CSV) and one picture. What the program refuses is
in both, with the reason.
"""

import argparse
import pathlib
import re
import sys

import measuring
from measuring import InputError, listed, size_text, time_text

try:
    import matplotlib
    import matplotlib.colors
    import matplotlib.figure
    import matplotlib.patches
except ModuleNotFoundError as missing:
    print(f"study_picture.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

HERE = pathlib.Path(__file__).resolve().parent
# What a transport is: keys of the study. Where the first are refused with a multipath the next are
# tried, and both the refusal and what came of the others are shown.
IN_ORDER = {"network.recovery": "go-back-n"}
ANY_ORDER = {"network.recovery": "selective-repeat"}
# No headroom for the length of a span: what arrives over it is not paused, and need not be where
# the far building takes more than the span brings.
PFC = {"network.transport": "roce", "network.pfc": "true", "cluster.cross.pfc": "false"}
# NCCL's default timeout, 4.3 s: packets wait that long for credits of a long span.
INFINIBAND = {"network.transport": "infiniband", "network.timeout_exponent": "20"}
# Credits and memory for a span of any length, in place of the standard's 128 KiB for each lane.
FAR = {"network.transport": "infiniband", "network.lane_credits": "1GiB",
       "network.spine_buffer": "64GiB", "network.leaf_buffer": "16MiB"}
LOSSY = {"network.transport": "roce", "network.pfc": "false", **ANY_ORDER}
TRANSPORTS = {
    "roce-pfc": [{**PFC, **IN_ORDER}, {**PFC, **ANY_ORDER}],
    "roce-lossy": [LOSSY],
    "roce-lossy-swift": [{**LOSSY, "network.control": "swift"}],
    "infiniband": [{**INFINIBAND, **IN_ORDER}, {**INFINIBAND, **ANY_ORDER}],
    "infiniband-far": [{**FAR, **IN_ORDER}, {**FAR, **ANY_ORDER}],
    "trimming": [{"network.transport": "trimming", **ANY_ORDER}],
}
NAMES = {"roce-pfc": "RoCE, PFC", "roce-lossy": "RoCE, lossy,\nselective repeat",
         "roce-lossy-swift": "RoCE, lossy,\nSwift", "infiniband": "InfiniBand",
         "infiniband-far": "InfiniBand,\ncredits by\ndistance", "trimming": "trimming"}
WORKS = {"all-reduce": "all-reduce of {size} between the buildings", "step": "training step"}


class Program:
    """scaleacross, and the study that is varied."""

    def __init__(self, path, study):
        self.path = path
        self.study = study
        self.identity = measuring.program_fingerprint(path)

    def answer(self, case, settings):
        """One run: exit code, row or None, and what it complains of."""
        words = [f"cluster.cross.distance={case['distance_km']:g}km",
                 f"cluster.cross.loss={case['loss']:g}",
                 f"network.multipath={case['multipath']}"]
        words += [f"{key}={value}" for key, value in settings.items()]
        common = [self.study, "--json", "--engine", "packet", "--seed", str(case["seed"])]
        common += [word for setting in words for word in ("--set", setting)]
        if case["work"] == "step":
            return measuring.run([self.path, "run", "--no-store", *common])
        code, rows, said = measuring.run(
            [self.path, "collective", *common, "--op", "all_reduce", "--group", "across", "-b",
             str(case["bytes"]), "-e", str(case["bytes"]), "--warmup", "0", "--iterations", "1",
             "--time-limit", "600s"])
        return code, rows[0] if rows else None, said


def reason_of(said):
    """'network.recovery: go-back-n takes ...' of the program's complaint; None if it is none of a
    combination."""
    match = re.search(r"((?:network|cluster)[.\w]*(?: and [.\w]+)*: .*)", said)
    return match[1].rstrip(".") if match else None


def difference(before, after):
    """What the settings that were taken have in place of those that were refused."""
    return ", ".join(f"{key}: {value}" for key, value in after.items() if before.get(key) != value)


def measured(program, case):
    """What one case gives: time and counters, or why there are none; and what was refused."""
    refusals = []
    for settings in TRANSPORTS[case["transport"]]:
        code, answer, said = program.answer(case, settings)
        if code != 2:
            break
        reason = reason_of(said)
        if reason is None:
            raise InputError(said)
        refusals.append((settings, reason))
    if code == 2:
        reasons = dict.fromkeys(reason for _, reason in refusals)
        return {"time_us": None, "refusals": list(reasons)}
    row = {"time_us": None, "settings": settings,
           "refusals": [f"{reason}: measured with {difference(refused, settings)}"
                        for refused, reason in refusals]}
    if code == 1:
        return {**row, "failed": measuring.problem_of(said)}
    row["time_us"] = (answer["time_us"] if case["work"] == "all-reduce"
                      else 1e6 * answer["iteration_time_s"])
    for key in ("packets_sent", "packets_dropped", "retransmissions", "pauses"):
        row[key] = answer["network"][key]
    return row


def loss_text(loss):
    """'no loss', 'loss 1e-5'."""
    mantissa, exponent = f"{loss:.3e}".split("e")
    return f"loss {float(mantissa):g}e{int(exponent)}" if loss else "no loss"


def cases_of(options, program):
    """Every combination, one draw of all of them after the other."""
    study = measuring.fingerprint(options.study)
    return [{"program": program.identity, "study": study, "work": work, "transport": transport,
             "attempts": TRANSPORTS[transport], "multipath": multipath, "distance_km": distance,
             "loss": loss, "bytes": options.bytes if work == "all-reduce" else 0, "seed": seed}
            for seed in range(1, options.seeds + 1) for work in options.works
            for distance in options.distances for loss in options.losses
            for transport in options.transports for multipath in options.multipaths]


class Cell:
    """One combination at one distance and loss: all of its draws."""

    def __init__(self, rows):
        self.times = [row["time_us"] for row in rows if row["time_us"] is not None]
        self.failed = sorted({row["failed"] for row in rows if "failed" in row})
        self.refusals = list(dict.fromkeys(
            reason for row in rows for reason in row["refusals"]))
        self.runs = len(rows)

    @property
    def mean(self):
        """Of the draws, if none of them failed."""
        return sum(self.times) / self.runs if len(self.times) == self.runs else None


class Results:
    """Cells by work, transport, multipath, distance and loss; and reasons by their letters."""

    def __init__(self, rows, options):
        self.rows = rows
        self.options = options
        groups = {}
        for row in rows:
            case = row["case"]
            groups.setdefault((case["work"], case["transport"], case["multipath"],
                               case["distance_km"], case["loss"]), []).append(row)
        self.cells = {key: Cell(group) for key, group in groups.items()}
        self.columns = [(distance, loss) for distance in options.distances
                        for loss in options.losses]
        self.lines = [(transport, multipath) for transport in options.transports
                      for multipath in options.multipaths]
        self.reasons = list(dict.fromkeys(
            reason for cell in self.cells.values()
            for reason in cell.refusals + cell.failed))

    def best(self, work, column):
        """The shortest mean of a column."""
        means = [self.cells[(work, *line, *column)].mean for line in self.lines]
        means = [mean for mean in means if mean is not None]
        return min(means) if means else None

    def letters(self, cell):
        """Reasons of a cell, as the notes below call them."""
        return "".join(chr(ord("a") + self.reasons.index(reason))
                       for reason in cell.refusals + cell.failed)

    def text(self, cell):
        """A mean with the notes that go with it, or why there is none."""
        letters = self.letters(cell)
        if cell.mean is not None:
            return time_text(cell.mean), letters
        if cell.failed:
            return f"failed {cell.runs - len(cell.times)} of {cell.runs}", letters
        return "refused", letters


def csv(results):
    counters = ["packets_sent", "packets_dropped", "retransmissions", "pauses"]
    lines = ["work,transport,multipath,distance_km,loss,bytes,seed,recovery,time_us," +
             ",".join(counters) + ",reason"]
    for row in results.rows:
        case = row["case"]
        reasons = row["refusals"] + ([row["failed"]] if "failed" in row else [])
        time = row["time_us"]
        recovery = row.get("settings", {}).get("network.recovery", "")
        lines.append(",".join(
            [case["work"], case["transport"], case["multipath"], f"{case['distance_km']:g}",
             f"{case['loss']:g}", str(case["bytes"]), str(case["seed"]), recovery,
             "" if time is None else f"{time:.6g}",
             *[str(row.get(key, "")) for key in counters],
             '"' + "; ".join(reasons).replace('"', '""') + '"' if reasons else ""]))
    return "\n".join(lines) + "\n"


def title_of(work, options):
    return WORKS[work].format(size=size_text(options.bytes))


def markdown(results):
    """A table for each work, and the reasons below."""
    parts = []
    for work in results.options.works:
        lines = [f"**{title_of(work, results.options)}**", "",
                 "| transport | multipath | " +
                 " | ".join(f"{distance:g} km, {loss_text(loss)}"
                            for distance, loss in results.columns) + " |",
                 "|---" * (len(results.columns) + 2) + "|"]
        for transport, multipath in results.lines:
            texts = []
            for column in results.columns:
                cell = results.cells[(work, transport, multipath, *column)]
                value, letters = results.text(cell)
                if cell.mean is not None and cell.mean == results.best(work, column):
                    value = f"**{value}**"
                texts.append(value + (f" ({letters})" if letters else ""))
            lines.append(f"| {transport} | {multipath} | " + " | ".join(texts) + " |")
        parts.append("\n".join(lines) + "\n")
    if results.reasons:
        parts.append("\n".join(f"- ({chr(ord('a') + n)}) {reason}"
                               for n, reason in enumerate(results.reasons)) + "\n")
    return "\n".join(parts)


# Inches.
LEFT, RIGHT, HEAD, FOOT, COLUMN, LINE, GAP, NOTE = 2.25, 0.15, 0.95, 0.35, 0.66, 0.235, 0.35, 0.17
GREY = "#e4e4e4"
WORST = 10  # times the best of the column, and more: the darkest colour
NOTE_WIDTH = 175


def wrapped(text):
    """Lines of notes that are as wide as the picture."""
    words, lines = text.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > NOTE_WIDTH:
            lines.append("     ")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def draw(results):
    """One block for each work: a line for each combination, a column for each distance and loss;
    the time, and as colour how many times the best of its column that is."""
    measuring.prepare(matplotlib)
    options = results.options
    notes = [line for n, reason in enumerate(results.reasons)
             for line in wrapped(f"{chr(ord('a') + n)}   {reason}")]
    block = COLUMN * len(results.columns)
    width = LEFT + block * len(options.works) + GAP * (len(options.works) - 1) + RIGHT
    rows = LINE * len(results.lines)
    height = HEAD + rows + FOOT + NOTE * len(notes) + 0.1
    figure = matplotlib.figure.Figure(figsize=(width, height))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    shade = matplotlib.colors.LinearSegmentedColormap.from_list(
        "slower", ["#ffffff", "#fde0c0", "#f1a340", "#b35806", "#7f3b08"])
    scale = matplotlib.colors.LogNorm(1, WORST)
    many = f"mean of {options.seeds} draws" if options.seeds > 1 else "one draw"
    axes.text(0.1, 0.2, "Transports and paths over distance and loss: packet engine, " + many,
              fontsize=10.5, weight="bold", va="center")
    for w, work in enumerate(options.works):
        left = LEFT + w * (block + GAP)
        axes.text(left, 0.45, title_of(work, options), weight="bold", va="center")
        for d, distance in enumerate(options.distances):
            span = COLUMN * len(options.losses)
            axes.text(left + (d + 0.5) * span, 0.64, f"{distance:g} km", ha="center", va="center")
            axes.plot([left + d * span + 0.04, left + (d + 1) * span - 0.04], [0.72, 0.72],
                      color="black", linewidth=0.5)
        for c, column in enumerate(results.columns):
            x = left + c * COLUMN
            axes.text(x + COLUMN / 2, 0.82, loss_text(column[1]),
                      ha="center", va="center", fontsize=7)
            best = results.best(work, column)
            for r, line in enumerate(results.lines):
                draw_cell(axes, results, results.cells[(work, *line, *column)], best, shade, scale,
                          x, HEAD + r * LINE)
    draw_lines(axes, results, width)
    for n, text in enumerate(notes):
        axes.text(0.1, HEAD + rows + FOOT + NOTE * (n + 0.5), text, fontsize=6.5, va="center",
                  color="#404040")
    axes.text(0.1, HEAD + rows + 0.17, "Colour: time over the shortest of its column, from white "
              f"(1) to brown ({WORST} and more); the shortest is bold. Grey: no result. Letters:",
              fontsize=7, va="center")
    return figure


def draw_cell(axes, results, cell, best, shade, scale, x, y):
    value, letters = results.text(cell)
    mean = cell.mean
    colour = GREY if mean is None else shade(scale(min(mean / best, WORST)))
    axes.add_patch(matplotlib.patches.Rectangle(
        (x, y), COLUMN, LINE, facecolor=colour, edgecolor="white", linewidth=0.8,
        hatch="////" if mean is None and not cell.failed else None))
    dark = mean is not None and mean / best > 4.5
    axes.text(x + COLUMN / 2, y + LINE / 2, value + (f" {letters}" if letters else ""), ha="center",
              va="center", fontsize=6.5, color="white" if dark else "black",
              weight="bold" if mean is not None and mean == best else "normal")


def draw_lines(axes, results, width):
    """What each line is, and a rule between transports."""
    paths = len(results.options.multipaths)
    for r, (_, multipath) in enumerate(results.lines):
        axes.text(LEFT - 0.08, HEAD + (r + 0.5) * LINE, multipath, ha="right", va="center")
    for t, transport in enumerate(results.options.transports):
        y = HEAD + t * paths * LINE
        axes.text(0.1, y + paths * LINE / 2, NAMES[transport], va="center", weight="bold")
        if t:
            axes.plot([0.1, width - RIGHT], [y, y], color="black", linewidth=0.6)


def parse(arguments):
    def known(name, words):
        def word(text):
            if text not in words:
                raise argparse.ArgumentTypeError(f"no {name} '{text}'; there are "
                                                 f"{', '.join(words)}")
            return text
        return listed(word)

    parser = argparse.ArgumentParser(
        description="Runs an all-reduce between two buildings and a training step over every "
        "combination of transport, multipath, distance and loss on the packet engine, and makes "
        "a table and a picture of it. What is measured is kept in --rows; the same command goes "
        "on from there.",
        epilog="example: study_picture.py -o picture.svg --table picture.md")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png")
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path,
                        help="table to write: .md, or .csv with every row; default: Markdown on "
                        "standard output")
    parser.add_argument("--rows", metavar="FILE", type=pathlib.Path,
                        default=pathlib.Path("study-picture.jsonl"),
                        help="what was measured so far (default: %(default)s)")
    parser.add_argument("--program", type=pathlib.Path,
                        default=HERE.parent / "build" / "release" / "bin" / "scaleacross",
                        help="default: the one of this checkout")
    parser.add_argument("--study", type=pathlib.Path, default=HERE / "study-picture.yaml")
    measuring.add_jobs(parser)
    parser.add_argument("--works", type=known("work", WORKS), default=",".join(WORKS),
                        help="default: %(default)s")
    parser.add_argument("--transports", type=known("transport", TRANSPORTS),
                        default="roce-pfc,roce-lossy,infiniband,trimming",
                        help=f"of {', '.join(TRANSPORTS)} (default: %(default)s)")
    parser.add_argument("--multipaths", type=listed(str), default="ecmp,e-ecmp,spray-adaptive,reps",
                        help="words of network.multipath (default: %(default)s)")
    parser.add_argument("--distances", type=listed(measuring.kilometres), default="1,100,1000",
                        help="km (default: %(default)s)")
    parser.add_argument("--losses", type=listed(measuring.loss), default="0,1e-5,1e-4",
                        help="probability that a packet is lost (default: %(default)s)")
    parser.add_argument("--bytes", type=measuring.size, default="32M",
                        help="of the all-reduce (default: %(default)s)")
    parser.add_argument("--seeds", type=measuring.whole(1, 1000), default=2,
                        help="draws of hashes and losses (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    if options.table and options.table.suffix not in (".md", ".csv"):
        parser.error(f"--table {options.table}: the name has to end in .md or .csv")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        program = Program(options.program, options.study)
        rows = measuring.measure(cases_of(options, program), options.rows, options.jobs,
                                 lambda case: measured(program, case))
        results = Results(rows, options)
        if all(cell.mean is None for cell in results.cells.values()):
            raise InputError("nothing of this has a result: " + "; ".join(results.reasons))
        measuring.save(draw(results), options.output)
        as_csv = options.table and options.table.suffix == ".csv"
        table = csv(results) if as_csv else markdown(results)
        if options.table:
            options.table.write_text(table)
        else:
            print(table, end="")
    except (InputError, OSError) as error:
        print(f"study_picture.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("study_picture.py: interrupted; the same command goes on from here",
              file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
