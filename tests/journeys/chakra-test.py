#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traces of Chakra by another reader and writer: Google's protobuf with descriptors made here.

Field names, numbers and types are those of schema/protobuf/et_def.proto of mlcommons/chakra, put
down again for this test. Files are framed as Chakra's tools do: a varint length before each message.
"""

import collections
import fractions
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
FIELD = descriptor_pb2.FieldDescriptorProto

SCALARS = ["double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
           "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"]
NODE_TYPES = ["INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
              "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"]
(METADATA, LOAD, COMPUTE, SEND, RECEIVE, COLLECTIVE) = 1, 2, 4, 5, 6, 7
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER = range(8)
BARRIER = 9


def schema():
    """Classes of the messages GlobalMetadata, Node and AttributeProto."""
    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="et", syntax="proto3")

    def add(message, name, number, kind, repeated=False, of=None, oneof=False):
        field = message.field.add(name=name, number=number, type=getattr(FIELD, "TYPE_" + kind))
        field.label = FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL
        if of:
            field.type_name = ".et." + of
        if oneof:
            field.oneof_index = 0

    attribute = file.message_type.add(name="AttributeProto")
    attribute.oneof_decl.add(name="value")
    add(attribute, "name", 1, "STRING")
    add(attribute, "doc_string", 2, "STRING")
    for i, scalar in enumerate(SCALARS):
        of = scalar.capitalize() + "List"
        add(file.message_type.add(name=of), "values", 1, scalar.upper(), repeated=True)
        add(attribute, scalar + "_val", 3 + 2 * i, scalar.upper(), oneof=True)
        add(attribute, scalar + "_list", 4 + 2 * i, "MESSAGE", of=of, oneof=True)
    metadata = file.message_type.add(name="GlobalMetadata")
    add(metadata, "version", 1, "STRING")
    add(metadata, "attr", 2, "MESSAGE", repeated=True, of="AttributeProto")
    kinds = file.enum_type.add(name="NodeType")
    for i, name in enumerate(NODE_TYPES):
        kinds.value.add(name=name, number=i)
    info = file.message_type.add(name="IOInfo")
    for i, name in enumerate(["values", "shapes", "types"]):
        add(info, name, 1 + i, "STRING")
    node = file.message_type.add(name="Node")
    add(node, "id", 1, "UINT64")
    add(node, "name", 2, "STRING")
    add(node, "type", 3, "ENUM", of="NodeType")
    add(node, "ctrl_deps", 4, "UINT64", repeated=True)
    add(node, "data_deps", 5, "UINT64", repeated=True)
    add(node, "start_time_micros", 6, "UINT64")
    add(node, "duration_micros", 7, "UINT64")
    add(node, "inputs", 8, "MESSAGE", of="IOInfo")
    add(node, "outputs", 9, "MESSAGE", of="IOInfo")
    add(node, "attr", 10, "MESSAGE", repeated=True, of="AttributeProto")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return [factory.GetPrototype(pool.FindMessageTypeByName("et." + name))
            for name in ("GlobalMetadata", "Node", "AttributeProto")]


GlobalMetadata, Node, Attribute = schema()


def read(path):
    """Metadata and nodes of a file."""
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        size, shift = 0, 0
        while True:
            byte = data[at]
            at, size, shift = at + 1, size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        message = Node() if messages else GlobalMetadata()
        message.ParseFromString(data[at:at + size])
        assert at + size <= len(data)
        assert message.SerializeToString() == data[at:at + size], "unknown fields, or another form"
        messages.append(message)
        at += size
    return messages[0], messages[1:]


def write(path, nodes, version="1.0.0"):
    """A file as Chakra's generator writes it."""
    with path.open("wb") as file:
        for message in [GlobalMetadata(version=version), *nodes]:
            text = message.SerializeToString()
            size = len(text)
            while size > 127:
                file.write(bytes([size & 127 | 128]))
                size >>= 7
            file.write(bytes([size]) + text)


def node_of(number, name, kind, micros=0, after=(), **attributes):
    """A node; the type of an attribute is in its name: comm_size_int64."""
    node = Node(id=number, name=name, type=kind, duration_micros=micros, data_deps=after)
    for name, value in attributes.items():
        name, scalar = name.rsplit("_", 1)
        node.attr.append(Attribute(name=name, **{scalar + "_val": value}))
    return node


def collective(number, kind, size, **more):
    return node_of(number, "collective", COLLECTIVE, is_cpu_op_bool=False, comm_type_int64=kind,
                   comm_size_int64=size, **more)


def value_of(node, name):
    for attribute in node.attr:
        if attribute.name == name:
            return getattr(attribute, attribute.WhichOneof("value"))
    return None


def sent(node, ranks):
    """Bytes that the rank of a node sends by it, on the average of its group."""
    size = fractions.Fraction(value_of(node, "comm_size") or 0)
    if node.type == SEND:
        return size
    n = len(ranks)
    return {ALL_REDUCE: 2 * size * (n - 1) / n, ALL_GATHER: size * (n - 1),
            ALL_TO_ALL: size * (n - 1) / n,
            REDUCE_SCATTER: size * (n - 1) / n}[value_of(node, "comm_type")]


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, check=False)

    def report(self, *arguments):
        end = self.call("run", *arguments, "--no-store", "--json")
        self.assertEqual(end.returncode, 0, end.stderr)
        return json.loads(end.stdout)

    def study(self, gpus):
        """A study of one server that replays t.0.et and so on."""
        text = ("trace: t\ncluster: {buildings: {count: 1, gpus: %d, gpus_per_node: %d, gpu: h100}}\n"
                % (gpus, gpus))
        path = self.folder / "study.yaml"
        path.write_text(text)
        return path

    @staticmethod
    def bytes_of(report):
        return sum(part["bytes"] for part in report["classes"].values())


class Ours(Traces):
    def test_another_reader_finds_the_same_work(self):
        end = self.call("export", STUDY, "--format", "chakra", "-o", "step")
        self.assertEqual(end.returncode, 0, end.stderr)
        groups = json.loads((self.folder / "step.groups.json").read_text())
        total, messages = 0, collections.Counter()
        for rank in range(64):
            metadata, nodes = read(self.folder / f"step.{rank}.et")
            self.assertEqual(metadata.version, "1.0.0")
            self.assertEqual([node.id for node in nodes], list(range(len(nodes))))
            passes = [node.name for node in nodes if value_of(node, "scaleacross.do") == "run"]
            self.assertEqual(passes[-1], "optimizer")
            # 64 sequences over dp 8 in microbatches of one: eight each way.
            self.assertEqual(sorted(passes[:-1]), sorted(
                f"{way} {i}" for way in ("forward", "backward") for i in range(8)))
            for node in nodes:
                # ASTRA-sim stops at nodes of other types.
                self.assertIn(node.type, (COMPUTE, SEND, RECEIVE, COLLECTIVE))
                self.assertTrue(all(other < node.id for other in node.data_deps))
                if node.type == COMPUTE and value_of(node, "scaleacross.do"):
                    self.assertEqual(node.duration_micros, 0)
                elif node.type == COMPUTE:
                    ps = value_of(node, "scaleacross.ps")
                    self.assertLessEqual(abs(ps - 10**6 * node.duration_micros), 500_000)
                if node.type in (SEND, RECEIVE):
                    ends = value_of(node, "comm_src"), value_of(node, "comm_dst")
                    self.assertEqual(ends[node.type == RECEIVE], rank)
                    messages[(*ends, value_of(node, "comm_tag"),
                              value_of(node, "comm_size"))] += 1 if node.type == SEND else -1
                if node.type in (SEND, COLLECTIVE):
                    ranks = groups.get(value_of(node, "pg_name"), [])
                    self.assertTrue(node.type == SEND or rank in ranks)
                    total += sent(node, ranks)
        self.assertTrue(all(left == 0 for left in messages.values()))
        self.assertEqual(total, self.bytes_of(self.report(STUDY)))

    def test_a_trace_that_another_writer_has_touched_is_refused(self):
        self.call("export", STUDY, "--format", "chakra", "-o", "step")
        metadata, nodes = read(self.folder / "step.5.et")
        nodes[7].duration_micros += 1
        path = self.folder / "step.5.et"
        write(path, nodes)
        end = self.call("run", STUDY, "--set", f"trace={self.folder / 'step'}")
        self.assertEqual(end.returncode, 2)
        self.assertIn("step.5.et: the file has been changed", end.stderr)
        self.assertEqual(metadata.attr[0].name, "scaleacross")


class Others(Traces):
    def write_all(self, ranks, nodes_of):
        for rank in range(ranks):
            write(self.folder / f"t.{rank}.et", nodes_of(rank))
        return self.study(ranks)

    def test_collectives_of_the_generator(self):
        # S = 64 KiB over 64 ranks of eight servers, by all engines that run task graphs.
        size, n = 65536, 64
        expected = {ALL_REDUCE: 2 * size * (n - 1), ALL_TO_ALL: size * (n - 1),
                    ALL_GATHER: size * n * (n - 1), REDUCE_SCATTER: size * (n - 1),
                    BROADCAST: size * (n - 1)}
        for kind, total in expected.items():
            for rank in range(n):
                write(self.folder / f"t.{rank}.et", [collective(rank, kind, size)])
            for engine in ("analytical", "flow", "packet"):
                report = self.report(STUDY, "--set", f"trace={self.folder / 't'}", "--engine", engine,
                                     "--set", "network.all_to_all=direct")
                self.assertEqual(self.bytes_of(report), total, (kind, engine))

    def test_attributes_of_any_integer_type(self):
        study = self.write_all(2, lambda rank: [
            node_of(0, "x", COLLECTIVE, comm_type_int32=ALL_REDUCE, comm_size_uint64=1000,
                    pg_name_string="0"),
            node_of(1, "send", SEND, comm_dst_uint32=1, comm_size_sint64=70, comm_tag_int32=3)
            if rank == 0 else
            node_of(1, "recv", RECEIVE, comm_src_fixed32=0, comm_size_int64=70, comm_tag_sfixed64=3)])
        self.assertEqual(self.bytes_of(self.report(study)), 2 * 1000 + 70)

    def test_what_the_generator_writes_and_nobody_can_run(self):
        for node, says in [(node_of(3, "MEM_LOAD_NODE", LOAD, tensor_size_uint64=1024), "of memory"),
                           (node_of(3, "COMM_SEND_NODE", SEND, tensor_size_uint64=1024), "comm_dst"),
                           (collective(3, GATHER, 1024), "comm_type is 3, GATHER")]:
            study = self.write_all(2, lambda rank, node=node: [node])
            end = self.call("run", study, "--no-store")
            self.assertEqual(end.returncode, 2, end.stderr)
            self.assertIn("t.0.et: node 3", end.stderr)
            self.assertIn(says, end.stderr)
            self.assertEqual(list(self.folder.glob("*.db")), [])

    def test_a_node_with_all_types_of_attributes_does_nothing(self):
        node = node_of(0, "METADATA_NODE", METADATA)
        for scalar in SCALARS:
            value = {"bool": True, "string": "12345", "bytes": b"12345"}.get(scalar, 12345)
            node.attr.append(Attribute(name=scalar, doc_string=scalar, **{scalar + "_val": value}))
            several = Attribute(name=scalar + "_list")
            getattr(several, scalar + "_list").values.extend([value, value])
            node.attr.append(several)
        study = self.write_all(1, lambda rank: [node, node_of(1, "c", COMPUTE, 5, [0])])
        self.assertAlmostEqual(self.report(study)["iteration_time_s"], 5e-6, delta=1e-15)

    def test_groups_and_waits(self):
        # Pairs (0, 2) and (1, 3) reduce while they compute; then all meet.
        for rank in range(4):
            write(self.folder / f"t.{rank}.et", [
                collective(10, ALL_REDUCE, 4096, pg_name_string=str(1 + rank % 2)),
                node_of(11, "beside", COMPUTE, 900),
                node_of(12, "after", COMPUTE, 100, [10]),
                collective(13, BARRIER, 0)])
        (self.folder / "t.groups.json").write_text('{"1": [0, 2], "2": [1, 3]}')
        report = self.report(self.study(4))
        self.assertEqual(self.bytes_of(report), 2 * 2 * 4096 + 2 * 3 * 4)
        self.assertGreater(report["iteration_time_s"], 1000e-6)
        self.assertLess(report["iteration_time_s"], 1020e-6)

    def test_a_group_that_others_do_not_tile(self):
        # The first and the last stage of six: 2 (n-1) S, by packets as well.
        for rank in range(12):
            write(self.folder / f"t.{rank}.et", [
                collective(1, ALL_REDUCE, 8192, pg_name_string="1") if rank in (2, 10)
                else node_of(1, "c", COMPUTE, 5)])
        (self.folder / "t.groups.json").write_text('{"1": [2, 10]}')
        study = self.study(12)
        study.write_text(study.read_text().replace("gpus_per_node: 12", "gpus_per_node: 4"))
        for engine in ("analytical", "flow", "packet"):
            report = self.report(study, "--engine", engine)
            self.assertEqual(self.bytes_of(report), 2 * 8192, engine)
            self.assertIsNone(report["mfu"])
            self.assertIsNone(report["memory_bytes_max"])
            parts = report["compute_s"] + report["bubble_s"] + report["exposed_comm_s"]
            self.assertAlmostEqual(parts, report["iteration_time_s"], delta=1e-12)

    def test_links_are_loaded_to_the_end(self):
        # Two ranks of four are over long before 50 MB have gone from one NIC to another.
        size = 50_000_000
        for rank in range(4):
            write(self.folder / f"t.{rank}.et", [
                node_of(1, "send", SEND, comm_dst_int32=2, comm_size_int64=size) if rank == 1 else
                node_of(1, "recv", RECEIVE, comm_src_int32=1, comm_size_int64=size) if rank == 2 else
                node_of(1, "c", COMPUTE, 1)])
        study = self.study(4)
        study.write_text(study.read_text().replace("gpus_per_node: 4", "gpus_per_node: 1"))
        for engine in ("analytical", "flow", "packet"):
            report = self.report(study, "--engine", engine)
            carried = max(one["bytes"] for one in report["resources"])
            # Headers are 2 % (60 of 4,096 bytes and what is around a packet).
            self.assertGreater(carried, size, engine)
            self.assertLess(carried, 1.03 * size, engine)

    def test_what_says_nothing_to_traces_is_told(self):
        def warnings(*arguments):
            end = self.call("run", *arguments, "--no-store")
            self.assertEqual(end.returncode, 0, end.stderr)
            return end.stdout + end.stderr
        study = self.write_all(2, lambda rank: [collective(1, ALL_TO_ALL, 100)])
        self.assertIn("go direct", warnings(study, "--set", "network.all_to_all=deepep"))
        self.assertNotIn("go direct", warnings(study))
        self.call("export", STUDY, "--format", "chakra", "-o", "step")
        step = f"trace={self.folder / 'step'}"
        self.assertIn("have no effect",
                      warnings(STUDY, "--set", step, "--set", "network.collective=tree"))
        self.assertNotIn("have no effect", warnings(STUDY, "--set", step))

    def test_traces_of_two_tools_are_not_mixed(self):
        self.call("export", STUDY, "--format", "chakra", "-o", "t")
        write(self.folder / "t.0.et", [node_of(1, "c", COMPUTE, 5)])
        end = self.call("run", STUDY, "--set", f"trace={self.folder / 't'}", "--no-store")
        self.assertEqual(end.returncode, 2)
        self.assertIn("t.1.et: ScaleAcross has written it, and not ", end.stderr)

    def test_a_prefix_has_traces_of_one_plan(self):
        (self.folder / "step.64.et").write_bytes(b"")
        end = self.call("export", STUDY, "--format", "chakra", "-o", "step")
        self.assertEqual(end.returncode, 2)
        self.assertIn("step.64.et: it is of more ranks than the plan has, 64", end.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["step.64.et"])
        end = self.call("export", STUDY, "--format", "chakra", "-o", "-")
        self.assertEqual(end.returncode, 2)
        self.assertIn("traces are several files", end.stderr)
        self.assertEqual(len(list(self.folder.iterdir())), 1)

    def test_commands_that_choose_refuse_traces(self):
        study = self.write_all(1, lambda rank: [node_of(1, "c", COMPUTE, 5)])
        for command in (["explore"], ["compare"], ["sensitivity"]):
            end = self.call(*command, study)
            self.assertEqual(end.returncode, 2, end.stderr)
            self.assertIn("the study replays traces", end.stderr)

    def test_a_run_is_stored_once_whatever_folder_its_traces_are_in(self):
        study = self.write_all(1, lambda rank: [node_of(1, "c", COMPUTE, 5)])
        other = self.folder / "other"
        other.mkdir()
        (other / "t.0.et").write_bytes((self.folder / "t.0.et").read_bytes())
        for where in ("t", "other/t"):
            end = self.call("run", study, "--set", f"trace={where}", "--db", "runs.db")
            self.assertEqual(end.returncode, 0, end.stderr)
        count = subprocess.run(["sqlite3", "runs.db", "SELECT count(*) FROM run"], cwd=self.folder,
                               capture_output=True, text=True, check=True)
        self.assertEqual(count.stdout.strip(), "1")


if __name__ == "__main__":
    unittest.main()
