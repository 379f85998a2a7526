#!/usr/bin/env python3
"""`pawl pipe` when it takes long: a search node that is away, a topic that lags, a partition with nothing but poison.

endurance.py PAWL TOPIC_TOOL SEARCH_SINK [--away SECONDS] [--lag MESSAGES] [unittest's arguments]
"""

import argparse
import json
import pathlib
import shutil
import tempfile
import time
import unittest

from running_pipe import RunningPipe, delays, is_settled, machine_text, wait_for

from nodes import Kafka
from search_sink import SearchSink

GROWS_MB = 8  # what an allocator does by itself
RSS_MB = 200
TEXT = "x" * 400


def event(number):
    return b'{"n": %d, "text": "%s"}' % (number, TEXT.encode())


class Endurance(unittest.TestCase):
    def setUp(self):
        self.topic = self.id().split(".")[-1].removeprefix("test_")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-pipe-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.sink = SearchSink(SEARCH_SINK)
        self.addCleanup(lambda: self.sink.__exit__())
        self.pipe = None
        KAFKA.create(f"{self.topic}-errors")

    def start(self, machine=None, **kafka):
        config = {"pipe": self.topic,
                  "kafka": {"brokers": KAFKA.brokers, "group": self.topic, "topics": [self.topic], "commit_every": "100ms", **kafka},
                  "transform": {"index": "docs"},
                  "elasticsearch": {"url": f"http://127.0.0.1:{self.sink.port}"},
                  "errors": {"topic": f"{self.topic}-errors"}}
        if machine:
            (self.directory / "machine.yaml").write_text(machine)
            config["machine"] = "machine.yaml"
        (self.directory / "pipe.json").write_text(json.dumps(config))
        self.pipe = RunningPipe(PAWL, self.directory / "log", self.directory / "pipe.json")
        self.addCleanup(self.pipe.kill)

    def settle(self, seconds):
        wait_for(lambda: f"everything to be committed: {KAFKA.committed(self.topic, self.topic)} of {KAFKA.watermarks(self.topic)}",
                 lambda: is_settled(KAFKA, self.topic, self.topic), seconds, 0.5)

    def stop(self):
        self.assertEqual(self.pipe.stop(), 0)

    def test_search_is_away_for_long(self):
        KAFKA.create(self.topic, 2)
        produce_many(self.topic, 2, 200000)
        port = self.sink.port
        self.start(machine_text(delays("300ms", "2s")))
        wait_for("some documents", lambda: self.sink.stats()["documents"] > 5000)
        self.sink.__exit__()
        went = time.monotonic()
        # What the sink had is gone with it, which is why only what comes after is looked at in the end.
        seen = []
        committed = None
        while time.monotonic() < went + AWAY:
            time.sleep(min(1, AWAY / 20))
            seen.append((time.monotonic() - went, self.pipe.rss_mb()))
            if seen[-1][0] > 2 and committed is None:
                committed = KAFKA.committed(self.topic, self.topic)
        self.assertEqual(KAFKA.committed(self.topic, self.topic), committed)
        early = max(rss for at, rss in seen if at <= min(20, AWAY / 2))
        late = max(rss for at, rss in seen)
        self.sink = SearchSink(SEARCH_SINK, port=port)
        back = time.monotonic()
        wait_for("a document after it is back", lambda: self.sink.stats()["documents"] > 0, 10, 0.02)
        took = time.monotonic() - back
        print(f"away {AWAY:.0f} s: RSS {early:.0f} MB at first, {late:.0f} MB at most; went on {took:.1f} s after it was back", flush=True)
        self.assertLess(late, early + GROWS_MB)
        self.assertLess(took, 3)
        self.settle(240)
        have = {document for _, document in self.sink.documents()}
        for partition, (_, high) in KAFKA.watermarks(self.topic).items():
            for offset in range(committed[partition] or 0, high):
                self.assertIn(f"{self.topic}-{partition}-{offset}", have)
        self.stop()

    def test_lag(self):
        KAFKA.create(self.topic, 4)
        produce_many(self.topic, 4, LAG)
        self.sink.script({"times": -1, "delay_ms": 20})
        self.start()
        began = time.monotonic()
        rss = []
        while not is_settled(KAFKA, self.topic, self.topic):
            rss.append(self.pipe.rss_mb())
            if time.monotonic() > began + 60 + LAG / 2000:
                self.fail(f"a lag of {LAG} messages is not loaded after {time.monotonic() - began:.0f} s: "
                          f"{KAFKA.committed(self.topic, self.topic)} of {KAFKA.watermarks(self.topic)}")
            time.sleep(0.2)
        took = time.monotonic() - began
        print(f"a lag of {LAG} messages: {took:.0f} s, RSS {max(rss):.0f} MB at most", flush=True)
        self.assertLess(max(rss), RSS_MB)
        self.assertEqual(self.sink.stats()["documents"], LAG)
        self.stop()

    def test_a_partition_of_poison(self):
        KAFKA.create(self.topic, 4)
        for partition in range(4):
            KAFKA.produce(self.topic, [b"no json" if partition == 1 else event(number) for number in range(20000)],
                          "--partition", partition)
        began = time.monotonic()
        self.start()
        wait_for("the other partitions", lambda: self.sink.stats()["documents"] == 60000, 60)
        others = time.monotonic() - began
        self.settle(120)
        records = [dict(message["headers"]) for message in KAFKA.consume(f"{self.topic}-errors")]
        print(f"20000 messages of poison: the others after {others:.1f} s, all after {time.monotonic() - began:.1f} s", flush=True)
        self.assertEqual({(record["pawl.partition"], record["pawl.code"], record["pawl.error"]) for record in records},
                         {(b"1", b"7", b"invalid_format")})
        self.assertEqual({record["pawl.offset"] for record in records}, {str(offset).encode() for offset in range(20000)})
        self.assertTrue(all(record["pawl.reason"] for record in records))
        self.stop()

    def test_a_partition_that_is_refused(self):
        """Nothing of one partition is taken by the search node, which never says why for good."""
        KAFKA.create(self.topic, 4)
        self.sink.script({"times": -1, "items": [{"match": f"{self.topic}-1-", "status": 403, "type": "cluster_block_exception",
                                                  "reason": "index blocked"}]})
        for partition in range(4):
            KAFKA.produce(self.topic, [event(number) for number in range(20000)], "--partition", partition)
        self.start(machine_text(delays("300ms", "2s")))
        wait_for("the other partitions", lambda: self.sink.stats()["documents"] == 60000, 60)
        wait_for("their commits", lambda: [offset or 0 for offset in KAFKA.committed(self.topic, self.topic).values()] ==
                 [20000, 0, 20000, 20000])
        failed = self.pipe.events("failed", code="bulk_item_blocked")
        self.assertEqual({one["partition"] for one in failed}, {f"{self.topic}/1"})
        self.assertIn("index blocked", failed[-1]["error"])
        self.sink.script()
        self.settle(60)
        self.assertEqual(self.sink.stats()["documents"], 80000)
        self.stop()


def produce_many(topic, partitions, count):
    chunk = 50000
    for partition in range(partitions):
        for first in range(0, count // partitions, chunk):
            KAFKA.produce(topic, [event(first + i) for i in range(min(chunk, count // partitions - first))],
                          "--partition", partition, "--timeout", 120)


def setUpModule():
    global KAFKA
    KAFKA = Kafka(TOPIC_TOOL)
    KAFKA.__enter__()
    unittest.addModuleCleanup(KAFKA.__exit__)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pawl", "topic_tool", "search_sink"):
        parser.add_argument(name)
    parser.add_argument("--away", type=float, default=180)
    parser.add_argument("--lag", type=int, default=2000000)
    known, rest = parser.parse_known_args()
    PAWL, TOPIC_TOOL, SEARCH_SINK, AWAY, LAG = known.pawl, known.topic_tool, known.search_sink, known.away, known.lag
    unittest.main(argv=["endurance.py", *rest])
