#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lines of measured collectives become runs by rules, or a reason why not; and the page's table."""

import collections
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"])
TABLE = TOP / "tests" / "validation" / "collectives" / "published.csv"
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "collectives.md"

sys.path.insert(0, str(TOP / "analysis"))
import collective_lines  # noqa: E402
import measured_collectives  # noqa: E402
import measuring  # noqa: E402

# A line that every rule can be tried on; no source or date, which no rule reads.
LINE = {"id": "a", "setup": "a", "gpu": "H100", "gpus_per_node": "8", "nodes": "2", "gpus": "16",
        "intra_link": "NVLink4+NVSwitch", "nic": "ConnectX-7 400G x8/node",
        "fabric": "InfiniBand NDR", "nccl": "", "env": "", "op": "all_reduce", "bytes": "1073741824",
        "time_us": "5000", "busbw": "", "note": ""}
REFUSED = {
    "gpu": ["H8000", "H1000", "V100", "SM80 (Ampere)", "TPU"],
    "intra_link": ["NVLink", "NVLink2", "PCIe Gen5 (no NVLink)"],
    "nic": ["not stated", "none used", "RDMA"], "op": ["p2p_alltoall_msg", "broadcast"],
    "gpus_per_node": ["0", ""], "gpus": ["8", "all"],
    "note": ["faulty; chunks of 1 MiB", "underperforming run", "copied by hand; a slow cluster"],
    "env": ["no plugin; configuration 1"]}


class MeasuredCollectives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = collective_lines.machines_of(PROGRAM)

    def run_of(self, **changed):
        return collective_lines.run_of({**LINE, **changed}, self.machines)

    def results(self, *lines):
        return measured_collectives.results_of(
            [{**LINE, "id": str(number), **line} for number, line in enumerate(lines)], PROGRAM)

    def call(self, *arguments):
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            code = measured_collectives.main([*map(str, arguments), "--program", str(PROGRAM)])
        return code, printed.getvalue(), said.getvalue()

    def test_machines_follow_the_columns(self):
        words = {"GPU": "gpu", "NIC": "nic", "link": "intra_link", "fabric": "fabric"}
        for machine, changed in {
                "dgx-h100": {}, "hgx-h200": {"GPU": "H200"},
                "gcp-a3-ultra": {"GPU": "H200", "fabric": "RoCE rail-aligned (Google 4-way)"},
                "aws-p5": {"NIC": "EFA 32x100G/node", "fabric": "EFA (SRD)"},
                "aws-p5en": {"GPU": "H200", "NIC": "EFA 16x200G/node", "fabric": "EFA (SRD)"},
                "aws-p4de": {"GPU": "A100-80", "NIC": "EFA 4x100G/node", "fabric": "EFA (SRD)"},
                "gcp-a3-mega": {"NIC": "GPUDirect-TCPXO, 8x200G/node", "fabric": "TCPXO"},
                "gcp-a3-high": {"NIC": "GPUDirect-TCPX, 4x200G/node", "fabric": "TCPX"},
                "oci-h100": {"NIC": "ConnectX-7 200G x16/node", "fabric": "RoCEv2"},
                "dgx-a100-40g": {"GPU": "A100-40", "NIC": "ConnectX-6 HDR 200G x8/node"},
                "oci-a100": {"GPU": "A100-40", "NIC": "ConnectX-5 100G x16/node",
                             "fabric": "RoCEv2 cluster network"},
                "mi355x-server": {"GPU": "MI355X", "link": "xGMI full mesh", "fabric": "UEC"},
                "hgx-b300": {"GPU": "B300", "NIC": "ConnectX-8, 8x2x400G/node (6.4 Tb/s)"}}.items():
            run = self.run_of(**{words[key]: value for key, value in changed.items()})
            self.assertEqual((run.machine, run.nics), (machine, None), changed)
        four = {"gpus_per_node": "4", "gpus": "8"}
        alps = self.run_of(**four, gpu="GH200", intra_link="NVLink4 (4-GPU mesh)",
                           nic="Slingshot 11 200G x4/node", fabric="Slingshot dragonfly")
        self.assertEqual((alps.machine, alps.ranks), ("alps", 8))
        # Two trays of a rack need no NICs, 36 do.
        rack = {"gpu": "GB200", "gpus_per_node": "4", "intra_link": "NVLink5 NVL72",
                "nic": "none used", "fabric": "NVLink only, 1 rack"}
        self.run_of(**rack, nodes="18", gpus="72")
        with self.assertRaisesRegex(collective_lines.Inexpressible, "nic: 'none used'"):
            self.run_of(**rack, nodes="36", gpus="144")

    def test_other_nics_and_networks_change_the_machine(self):
        # 4 x 400 Gb/s is no machine's; the transport is not that of the machine either.
        run = self.run_of(nic="400G class, 4 HCAs/node", fabric="RoCE")
        self.assertEqual(run.nics, (4, 400))
        self.assertIn(run.machine, {machine.name for machine in self.machines
                                    if machine.gpu == "h100"})
        each = self.run_of(nic="400G class, 1 HCA/GPU (inferred)", fabric="RoCEv2")
        self.assertEqual((each.machine, each.nics), ("dgx-h100", None))
        self.assertEqual(dict(each.settings)["network.transport"], "roce")
        self.assertEqual(dict(each.settings)["network.multipath"], "e-ecmp")
        self.assertNotIn("network.transport", dict(self.run_of().settings))
        # In a server there is no network to set.
        one = self.run_of(nodes="1", gpus="8", fabric="RoCEv2", nic="none used")
        self.assertNotIn("network.transport", dict(one.settings))
        tree = dict(self.run_of(env="ALGO=Tree").settings)
        self.assertEqual(tree["network.nccl_algorithm"], "tree")
        other = dict(self.run_of(env="NVLS").settings)
        self.assertEqual(other["network.collective"], "nccl")
        self.assertNotIn("network.nccl_algorithm", other)

    def test_tokens_follow_the_columns(self):
        line = {"gpu": "H800", "intra_link": "NVLink4 (400 GB/s H800)", "op": "ep_dispatch",
                "nccl": "NVSHMEM",
                "env": "throughput kernels; 1024 tokens x 7168; top 6 in 4 groups; BF16 out"}
        run = self.run_of(**line)
        self.assertEqual((run.machine, run.nodes, run.used, run.settings),
                         ("hgx-h800", 2, 8, ()))
        self.assertEqual(dict(run.tokens), {
            "tokens": 1024, "hidden": 7168, "top-k": 6, "experts": 256, "max-nodes": 4,
            "kernel": "throughput", "precision": "bf16"})
        # What is not said: 24 ranks have no even part of 256 experts.
        run = self.run_of(**{**line, "gpu": "SM90 (Hopper)", "intra_link": "NVLink4+NVSwitch",
                             "nodes": "3", "gpus": "24", "nccl": "NCCL device API",
                             "env": "12 SMs", "op": "ep_combine"})
        self.assertEqual((run.machine, dict(run.tokens)), ("dgx-h100", {
            "tokens": 8192, "hidden": 7168, "top-k": 8, "experts": 288, "max-nodes": 0,
            "kernel": "throughput"}))
        # Libraries and networks, of a kernel; in a server there is none.
        low = {**line, "op": "ep_combine_ll", "nccl": "UCCL-EP", "env": "128 tokens x 4096; top 4"}
        self.assertEqual(dict(self.run_of(**low).settings), {"network.token_message": "80ns"})
        self.assertEqual(dict(self.run_of(**low).tokens)["hidden"], 4096)
        cloud = dict(self.run_of(**low, fabric="EFA (SRD)").settings)
        self.assertEqual(cloud["network.token_start"], "30us")
        self.assertEqual(cloud["network.transport"], "roce")
        self.assertEqual(self.run_of(**low, nodes="1", gpus="8").settings, ())
        # Beside others its kernels used NICs for all: 16 servers of a GPU.
        apart = self.run_of(**{**low, "nccl": "NVSHMEM", "env": "IBGDA; 7168; top 8 (assumed)",
                               "note": "DeepEP; 1 token"})
        self.assertEqual((apart.nodes, apart.used, apart.settings), (16, 1, ()))
        self.assertEqual(dict(apart.tokens)["tokens"], 1)

    def test_times_of_tokens_follow_from_the_bandwidth(self):
        line = {"op": "ep_combine_ll", "bytes": "", "env": "128 tokens x 7168; top 8"}
        by_time, by_rate, neither = self.results(
            {**line, "time_us": "200"}, {**line, "time_us": "", "busbw": "50"},
            {**line, "time_us": ""})
        size = 128 * 8 * 2 * 7168
        self.assertEqual([by_time["bytes"], by_rate["bytes"]], [size, size])
        self.assertEqual(by_time["measured_us"], 200)
        self.assertAlmostEqual(by_rate["measured_us"], size / 50e3)
        self.assertEqual(by_rate["error"], by_rate["time_us"] / by_rate["measured_us"] - 1)
        self.assertTrue(neither["reason"].startswith("time_us"))
        # The buffer of torch's all-to-all: all tokens at every expert, of FP8 with scales.
        torch, = self.results({"op": "alltoall_torch", "bytes": "", "note": "torch; 2 tokens"})
        self.assertEqual(torch["bytes"], 2 * 256 * (7168 + 224))

    def test_what_is_not_expressed_is_named(self):
        for column, words in REFUSED.items():
            for word in words:
                with self.assertRaises(collective_lines.Inexpressible,
                                       msg=(column, word)) as caught:
                    self.run_of(**{column: word})
                self.assertTrue(str(caught.exception).startswith(f"{column}: "), caught.exception)
        with self.assertRaisesRegex(collective_lines.Inexpressible, "gpus_per_node: 16 of 8"):
            self.run_of(gpus_per_node="16", gpus="32")
        with self.assertRaisesRegex(collective_lines.Inexpressible, "no machine has h100"):
            self.run_of(intra_link="NVLink4 (4-GPU mesh)", gpus_per_node="4", gpus="8")
        results = self.results({"op": "all_reduce_ratio"}, {"bytes": ""}, {"time_us": ""},
                               {"op": "alltoall", "bytes": "32"}, {"time_us": "0", "busbw": "x"})
        self.assertEqual([result["reason"].split(":")[0] for result in results],
                         ["op", "bytes", "time_us", "bytes", "time_us"])
        self.assertTrue(all(result["error"] is None for result in results))

    def test_times_are_the_programs(self):
        results = self.results({}, {"bytes": "2147483648"}, {"bytes": "1000000"},
                               {"op": "alltoall", "bytes": "1000000"},
                               {"op": "alltoall", "bytes": "4294967296"},
                               {"op": "alltoall", "bytes": "4294967296",
                                "nic": "400G class, 4 HCAs/node"})
        base = [PROGRAM, "collective", "--machine", "dgx-h100", "--nodes", "2", "--json", "--set",
                "network.collective=nccl"]

        def time(op, size, *more):
            printed = subprocess.run([*base, "--op", op, "-b", str(size), "-e", str(size), *more],
                                     check=True, capture_output=True, text=True).stdout
            return json.loads(printed)[0]["time_us"]
        self.assertEqual([result["time_us"] for result in results[:4]],
                         [time("all_reduce", 1 << 30), time("all_reduce", 2 << 30),
                          time("all_reduce", 1000000), time("all_to_all", 1000000)])
        # Half as many NICs, through which 8 of 15 parts go: 2.1 GiB at 50 GB/s take 46 ms, the
        # others 1.9 GiB over NVLink less than 20.
        self.assertAlmostEqual(results[5]["time_us"] / results[4]["time_us"], 2, delta=0.05)
        self.assertEqual(results[0]["error"], results[0]["time_us"] / 5000 - 1)

    def test_a_time_follows_from_the_bandwidth(self):
        # 16 ranks: S 2 (15/16) / busbw.
        result, = self.results({"time_us": "", "busbw": "187.5"})
        self.assertAlmostEqual(result["measured_us"], 2 ** 30 * 1.875 / 187.5e3)

    def test_what_plugins_take_of_messages(self):
        """Of 64 ranks in servers of 4, 60 are elsewhere: 52 beyond the eight that go at once. 192 B
        are injected, 256 B are not."""
        def time(size, *settings):
            _, rows, said = measuring.run(
                [str(PROGRAM), "collective", "--machine", "polaris", "--nodes", "16", "--op",
                 "alltoall", "-b", str(64 * size), "-e", str(64 * size), "--json", "--set",
                 "network.collective=nccl",
                 *(word for key, value in settings
                   for word in ("--set", f"network.nccl_net_{key}={value}"))])
            self.assertIsNotNone(rows, said)
            return rows[0]["time_us"]
        none = (("message", "0us"), ("inject", "0us"))
        for size, settings, takes in ((256, (("message", "9us"), ("inject", "0us")), 52 * 9),
                                      (192, (("message", "0us"), ("inject", "9us")), 60 * 9),
                                      (256, (("message", "0us"), ("inject", "9us")), 0)):
            self.assertAlmostEqual(time(size, *settings) - time(size, *none), takes, delta=0.01)

    def test_what_a_plugins_step_adds_to_rings(self):
        """A part passes 63 of 64 hops of a ring through 16 servers of 4, 16 between servers at most.
        55 of 63 messages are beyond the 8 slots of LL, and so much of a step is each of 47 inside;
        of 7 messages in a ring through 2 servers none, where 2 hops are between servers."""
        def time(nodes, step):
            _, rows, said = measuring.run(
                [str(PROGRAM), "collective", "--machine", "polaris", "--nodes", str(nodes), "--op",
                 "all_gather", "-b", "16384", "-e", "16384", "--json",
                 *(word for value in ("collective=nccl", "nccl_protocol=ll", f"nccl_net_step={step}")
                   for word in ("--set", f"network.{value}"))])
            self.assertIsNotNone(rows, said)
            return rows[0]["time_us"]
        for nodes, steps in ((16, 16 + 47 * 55 / 63), (2, 2)):
            self.assertAlmostEqual((time(nodes, "1ms") - time(nodes, "0us")) / 1000, steps,
                                   delta=0.001)

    def test_series(self):
        self.assertEqual(measured_collectives.series_of([8, 32, 16, 128, 64, 8]), [(8, 2, 128)])
        self.assertEqual(measured_collectives.series_of([8, 32, 128, 256]),
                         [(8, 4, 128), (256, 2, 256)])
        self.assertEqual(measured_collectives.series_of([7, 9]), [(7, 2, 7), (9, 2, 9)])
        self.assertEqual(measured_collectives.series_of([3, 6, 9]), [(3, 2, 6), (9, 2, 9)])

    def test_percentiles_and_classes(self):
        self.assertEqual(measured_collectives.percentile([4, 0, 1, 3, 2], 0.9), 3.6)
        self.assertEqual(measured_collectives.percentile([5], 0.9), 5)
        rows = [{"op": "a", "bytes": size, "error": error, "marks": marks}
                for size, error, marks in [(16 << 20, -0.5, ["slow"]), (16 << 20, 0.1, []),
                                           ((16 << 20) - 4, 2.0, ["late"]), (8, None, [])]]
        large, small = measured_collectives.summary(rows)
        self.assertEqual(large[:3], ("a", "16 MiB and more", 2))
        self.assertAlmostEqual(large[3], 0.3)
        self.assertAlmostEqual(large[4], 0.46)
        self.assertEqual(large[5:], (1, 0.1, 0.1))
        self.assertEqual(small, ("a", "less", 1, 2.0, 2.0, 0, None, None))
        self.assertEqual(measured_collectives.markdown(rows).splitlines()[2:],
                         ["| `a` | 16 MiB and more | 2 | 30 % | 46 % | 1 | 10 % | 10 % |",
                          "| `a` | less | 1 | 200 % | 200 % |  |  |  |"])

    def test_wrong_tables_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            texts = {"short": "id,gpu\na,b\n", "ragged": ",".join(LINE) + "\na,b\n",
                     "twice": "\n".join([",".join(LINE), *[",".join(LINE.values())] * 2]) + "\n"}
            for stem, text in texts.items():
                (folder / f"{stem}.csv").write_text(text)
            for stem, says in {"none": "No such file", "short": "there is no column setup",
                               "ragged": "ragged.csv:2: not as many cells",
                               "twice": "twice.csv:3: id 'a' stands there twice"}.items():
                code, printed, said = self.call(folder / f"{stem}.csv")
                self.assertEqual((code, printed), (2, ""), stem)
                self.assertIn(says, said)
            (folder / "one.csv").write_text(texts["twice"].rsplit("\n", 2)[0] + "\n")
            with self.assertRaisesRegex(measuring.InputError, "cannot be run"):
                measured_collectives.results_of([LINE], folder / "nothing")
            code, printed, _ = self.call(folder / "one.csv", "--json")
            self.assertEqual(code, 0)
            self.assertEqual(list(json.loads(printed)[0]),
                             ["id", "op", "bytes", "time_us", "measured_us", "error", "marks"])

    def test_the_page_has_the_plugins_values(self):
        """In the order of its columns; the page leaves out what is 0."""
        page = PAGE.read_text()
        machines = {machine.name: machine for machine in self.machines}
        for words, name in (("InfiniBand and RoCE (verbs)", "dgx-h100"),
                            ("Slingshot (CXI)", "alps"), ("Slingshot (CXI)", "polaris"),
                            ("EFA (SRD)", "aws-p4de"), ("EFA (SRD)", "aws-p5"),
                            ("EFA (SRD)", "aws-p5en"), ("GPUDirect-TCPX and TCPXO", "gcp-a3-high"),
                            ("GPUDirect-TCPX and TCPXO", "gcp-a3-mega")):
            values = [machines[name].values[key] for key in collective_lines.PLUGIN[:6]]
            cells = ["0" if re.match(r"0[a-z]", value) else
                     re.sub(r"(?<=\d)(?=[a-zG])", " ", value).replace("Gbps", "Gb/s")
                     for value in values]
            self.assertIn("| " + " | ".join([words, *cells]) + " |", page, name)

    def told(self, op, size, machine, *more):
        """What `collective` says under `published`."""
        _, rows, said = measuring.run(
            [str(PROGRAM), "collective", *machine, "--op", op, "--json",
             "--set", "network.collective=nccl", *(("-b", size, "-e", size) if size else ()), *more])
        self.assertIsNotNone(rows, said)
        return rows[0]["published"]

    def told_by_the_page(self):
        """Lines, setups, and of median and 90th percentile the larger of shipped and predicted in %."""
        rows = re.findall(r"\| `(\w+)` \| (16 MiB and more|less) \| (\d+) \| (\d+) \|" +
                          r" (\d+) % \|" * 4 + "\n", PAGE.read_text())
        self.assertTrue(rows)
        return {(op, size != "less"): (int(lines), int(setups), max(int(median), int(median2)),
                                       max(int(most), int(most2)))
                for op, size, lines, setups, median, most, median2, most2 in rows}

    def check_told(self, results, table):
        """The program tells the largest figure: of all lines, of all without those that something was
        fitted to, and of the lines on GPUs like the job's."""
        def figures(errors):
            return (statistics.median(errors), measured_collectives.percentile(errors, 0.9))

        def percents(*pairs):
            return tuple(max(round(100 * pair[i]) for pair in pairs) for i in (0, 1))

        gpus = {machine.name: machine.gpu for machine in self.machines}
        lines = {line["id"]: line for line in table}
        by_page = self.told_by_the_page()
        classes = collections.defaultdict(list)
        for result in results:
            if result["error"] is not None and result["op"] != "alltoall_torch":
                line = lines[result["id"]]
                run = collective_lines.run_of(line, self.machines)
                classes[result["op"], result["bytes"] >= collective_lines.LARGE].append(
                    (gpus[run.machine], line["setup"], abs(result["error"]),
                     ("--machine", run.machine, "--nodes", str(run.nodes))))
        self.assertGreater(len(classes), 12)
        for (op, large), rows in classes.items():
            setups = {setup for _, setup, *_ in rows}
            if op in collective_lines.TOKEN_OPERATIONS:
                name, kernel = collective_lines.TOKEN_OPERATIONS[op]
                asked = (name, None), ("--kernel", kernel)
                whole = percents(figures([error for _, _, error, _ in rows]),
                                 figures([error for _, setup, error, _ in rows
                                          if setup not in collective_lines.TOKEN_FITTED]))
            else:
                asked = (collective_lines.OPERATIONS[op].name, "64M" if large else "1M"), ()
                self.assertEqual(by_page[op, large][:2], (len(rows), len(setups)), op)
                whole = by_page[op, large][2:]
            for gpu in sorted({gpu for gpu, *_ in rows}):
                of_gpu = [(setup, error) for own, setup, error, _ in rows if own == gpu]
                machine = next(machine for own, *_, machine in rows if own == gpu)
                own = percents(figures([error for _, error in of_gpu]))
                told = self.told(*asked[0], machine, *asked[1])
                with self.subTest(op=op, large=large, gpu=gpu):
                    self.assertEqual(
                        (round(100 * told["median"]), round(100 * told["nine_in_ten"]),
                         told["lines"], told["setups"], told["gpu_lines"], told["gpu_setups"]),
                        (max(whole[0], own[0]), max(whole[1], own[1]), len(rows), len(setups),
                         len(of_gpu), len({setup for setup, _ in of_gpu})))
                    self.assertEqual(told["unvalidated"],
                                     None if len(setups) >= 3 else "too few setups")
            if "a100-80g" not in {row[0] for row in rows} and not asked[1]:
                told = self.told(*asked[0], ("--machine", "dgx-a100"))
                self.assertIn("none of them is on 'a100-80g'", told["unvalidated"])
                self.assertIsNone(told["median"])

    def test_the_page_has_the_table(self):
        code, printed, said = self.call(TABLE, "--json")
        self.assertEqual((code, said), (0, ""))
        results = json.loads(printed)
        with TABLE.open(newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([result["id"] for result in results], [line["id"] for line in lines])
        for result in results:
            self.assertEqual(result["error"] is None, "reason" in result, result)
        page = PAGE.read_text()
        table = measured_collectives.markdown(results)
        self.assertTrue(table in page, table)
        tokens = measured_collectives.token_markdown(results)
        self.assertTrue(tokens in page, tokens)
        setups = {line["setup"] for line in lines}
        self.assertLessEqual(set(collective_lines.TOKEN_FITTED), setups)
        left = sum("reason" in result for result in results)
        said = f"{left} lines are left out"
        self.assertTrue(said in re.sub(r"\s+", " ", page), said)
        self.assertEqual([result["id"] for result in results if "reason" in result and
                          result["op"] in [*collective_lines.TOKEN_OPERATIONS,
                                           "alltoall_torch"]], [])
        self.check_told(results, lines)
        # Of what nccl-tests measures nearly all is expressed.
        counts = collections.Counter((result["op"] in ("all_reduce", "all_gather", "alltoall",
                                                       "reduce_scatter", "sendrecv"),
                                      "reason" in result) for result in results)
        self.assertGreater(counts[True, False], 0.85 * (counts[True, False] + counts[True, True]))


if __name__ == "__main__":
    unittest.main()
