#!/usr/bin/env python3
"""The real nodes that tests use: they start, keep what they acknowledged through kill -9, and fail where tests rely on it.

components_test.py TOPIC_TOOL [--engine os2|es8] [unittest's arguments]
"""

import argparse
import subprocess
import sys
import threading
import unittest

from http_node import action
from nodes import Kafka, Search

ANY_BYTES = [(None, b"plain"), (b"key", b""), (b"", b"new\nline"), (b"\x00\xff", b"\xc3\x28\x00"), (b"gone", None), (None, None)]


class Broker(unittest.TestCase):
    def test_keeps_any_bytes_through_a_kill(self):
        with Kafka(TOPIC_TOOL) as kafka:
            kafka.create("bytes", 2, max_message_bytes=2000000)
            self.assertEqual(kafka.produce("bytes", ANY_BYTES, "--partition", 1, "--timestamp", 1700000000000,
                                           "--header", "color=a=b"), len(ANY_BYTES))
            self.assertEqual(kafka.produce("bytes", ["x" * 1500000], "--partition", 0), 1)
            kafka.kill()
            kafka.start()
            messages = kafka.consume("bytes")
            first = [message for message in messages if message["partition"] == 1]
            self.assertEqual([(message["key"], message["value"]) for message in first], ANY_BYTES)
            self.assertEqual([message["offset"] for message in first], list(range(len(ANY_BYTES))))
            self.assertEqual((first[0]["headers"], first[0]["timestamp"]), ([("color", b"a=b")], 1700000000000))
            self.assertEqual(len(messages), len(ANY_BYTES) + 1)
            self.tool_reads_lines(kafka)
            self.tool_moves_offsets(kafka)
            self.tool_says_what_is_wrong(kafka)

    def tool_reads_lines(self, kafka):
        kafka.create("lines")
        kafka.tool("produce", "lines", "--keys", stdin=b"a\tb\tc\nno key\n")
        self.assertEqual([(message["key"], message["value"]) for message in kafka.consume("lines")],
                         [(b"a", b"b\tc"), (None, b"no key")])
        self.assertEqual(kafka.tool("consume", "lines"), b"b\tc\nno key\n")

    def tool_moves_offsets(self, kafka):
        kafka.tool("delete-records", "bytes", 1, 2)
        kafka.tool("delete-records", "bytes", 0, "end")
        self.assertEqual(kafka.watermarks("bytes"), {0: (1, 1), 1: (2, len(ANY_BYTES))})
        self.assertEqual([message["offset"] for message in kafka.consume("bytes")], list(range(2, len(ANY_BYTES))))
        kafka.tool("commit", "group", "bytes", 1, 4)
        self.assertEqual(kafka.committed("group", "bytes"), {0: None, 1: 4})
        kafka.tool("add-partitions", "bytes", 3)
        self.assertEqual(kafka.watermarks("bytes")[2], (0, 0))
        kafka.tool("delete", "bytes")

    def tool_says_what_is_wrong(self, kafka):
        for code, words in ((1, ["watermarks", "bytes"]), (1, ["consume", "missing"]), (1, ["create", "lines", 1]),
                            (1, ["create", "new", 1, "no.such=1"]), (1, ["delete", "missing"]),
                            (1, ["delete-records", "lines", 0, 99]), (1, ["produce", "lines", "--partition", 5]),
                            (2, ["create", "lines"]), (2, ["commit", "group", "lines", 0, "end"]),
                            (2, ["watermarks", "lines", "-X", "no.such=1"])):
            with self.assertRaises(subprocess.CalledProcessError, msg=words) as failed:
                kafka.tool(*words)
            self.assertEqual(failed.exception.returncode, code, words)
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            kafka.tool("produce", "lines", "--framed", stdin=b"\x00\x00\x00\x09short")
        self.assertEqual(failed.exception.returncode, 2)
        kafka.pause()
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            kafka.tool("watermarks", "lines", "--timeout", 1)
        self.assertEqual(failed.exception.returncode, 3)
        kafka.resume()
        self.assertEqual(kafka.watermarks("lines"), {0: (0, 2)})

    def test_three_go_on_without_one(self):
        with Kafka(TOPIC_TOOL, nodes=3) as kafka:
            kafka.create("shared", 3)
            sent = [str(number) for number in range(3000)]
            self.assertEqual(kafka.produce("shared", sent), len(sent))
            kafka.kill(1)
            self.assertEqual(kafka.produce("shared", sent), len(sent))
            kafka.kill()
            kafka.start()
            self.assertEqual(sorted(message["value"] for message in kafka.consume("shared")),
                             sorted(2 * [text.encode() for text in sent]))
            kafka.stop(2)
            kafka.start_node(2)
            self.assertEqual(sum(high for _, high in kafka.watermarks("shared").values()), 2 * len(sent))
            kafka.stop()

    def test_several_start_at_once(self):
        brokers = [Kafka(TOPIC_TOOL) for _ in range(2)]
        threads = [threading.Thread(target=kafka.start) for kafka in brokers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        try:
            for kafka in brokers:
                kafka.create("own", 1)
                self.assertEqual(kafka.produce("own", [kafka.brokers]), 1)
            for kafka in brokers:
                self.assertEqual([message["value"] for message in kafka.consume("own")], [kafka.brokers.encode()])
        finally:
            for kafka in brokers:
                kafka.__exit__()


class SearchNode(unittest.TestCase):
    def test_keeps_documents_through_a_kill(self):
        with Search(ENGINE) as node:
            self.assertEqual(node.json("PUT", "/a", {"settings": {"number_of_replicas": 0}})["index"], "a")
            items = node.bulk(*(action("index", {"n": n}, index="a", id=str(n), version=n, version_type="external_gte")
                                for n in range(1000)))
            self.assertEqual({item["status"] for item in items}, {201})
            node.kill()
            node.start()
            self.assertEqual(node.count("a"), 1000)
            self.conflicts_of_versions(node)
            self.refuses_single_items_when_the_disk_is_full(node)
            node.stop()
            node.start()
            self.assertEqual(node.count("a"), 1001)

    def conflicts_of_versions(self, node):
        def at(version):
            return action("index", {"n": version}, index="a", id="7", version=version, version_type="external_gte")
        self.assertEqual([item["status"] for item in node.bulk(at(6), at(7), at(8))], [409, 200, 200])

    def refuses_single_items_when_the_disk_is_full(self, node):
        node.json("PUT", "/full", {"settings": {"number_of_replicas": 0}})
        node.json("PUT", "/full/_settings", {"index.blocks.read_only_allow_delete": True})
        items = node.bulk(action("index", {}, index="full", id="1"), action("index", {}, index="a", id="new"))
        self.assertEqual([item["status"] for item in items], [429, 201])
        self.assertEqual(items[0]["error"]["type"], "cluster_block_exception")
        node.json("PUT", "/full/_settings", {"index.blocks.read_only_allow_delete": None})
        self.assertEqual([item["status"] for item in node.bulk(action("index", {}, index="full", id="1"))], [201])

    def test_takes_settings(self):
        with Search(ENGINE, {"http.max_content_length": "1mb", "action.auto_create_index": "false"}) as node:
            status, _, body = node.ask("POST", "/_bulk", action("index", {"text": "x" * 2000000}, index="a", id="1"))
            self.assertEqual((status, body), (413, b""))
            self.assertEqual([item["status"] for item in node.bulk(action("index", {}, index="a", id="1"))], [404])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("topic_tool")
    parser.add_argument("--engine", default="os2", choices=("os2", "es8"))
    arguments, rest = parser.parse_known_args()
    TOPIC_TOOL, ENGINE = arguments.topic_tool, arguments.engine
    unittest.main(argv=sys.argv[:1] + rest)
