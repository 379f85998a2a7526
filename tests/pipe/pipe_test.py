#!/usr/bin/env python3
"""`pawl pipe` between a real Kafka and a search node that fails as it is told.

pipe_test.py PAWL TOPIC_TOOL SEARCH_SINK [unittest's arguments]

Whatever fails: documents and keys of the topic of errors are, together, exactly the messages; no document has another
content than its message; the committed offset never passes a message that is neither.
"""

import argparse
import json
import pathlib
import shutil
import tempfile
import threading
import time
import unittest

from running_pipe import RunningPipe, delays, is_settled, machine_text, seconds_of, wait_for

from nodes import Kafka
from search_sink import SearchSink

FAST = machine_text(delays("50ms", "200ms"))
DAY_MS = 1772409600000  # 2026-03-02T00:00:00Z


def event(number, **fields):
    return json.dumps({"n": number, **fields})


class PipeTest(unittest.TestCase):
    """Topics, a sink and a directory of its own for each test; the broker is shared."""

    def setUp(self):
        name = self.id().split(".")[-1].removeprefix("test_")
        self.topic = name
        self.errors = f"{name}-errors"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-pipe-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.sink = SearchSink(SEARCH_SINK)
        self.addCleanup(self.sink.__exit__)
        self.pipes = []
        self.addCleanup(self.end_pipes)
        self.count = 0

    def end_pipes(self):
        result = self._outcome.result
        failed = any(getattr(test, "test_case", test) is self for test, _ in result.failures + result.errors)
        for pipe in self.pipes:
            if failed:
                print(f"--- the log of the pipe of {self.id()}:\n{pipe.said()}")
            if pipe.runs():
                pipe.kill()

    # --- Doing ---

    def create(self, partitions=1, errors=True, **settings):
        KAFKA.create(self.topic, partitions)
        if errors:
            KAFKA.create(self.errors, 1, **settings)

    def config(self, machine=None, **parts):
        """The file of a pipe; parts are merged with what is there."""
        config = {
            "pipe": self.topic,
            "kafka": {"brokers": KAFKA.brokers, "group": self.topic, "topics": [self.topic], "commit_every": "100ms",
                      "options": {"session.timeout.ms": 6000}},
            "transform": {"index": "docs"},
            "opensearch": {"url": f"http://127.0.0.1:{self.sink.port}"},
            "errors": {"topic": self.errors},
        }
        for key, value in parts.items():
            config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
        self.count += 1
        if machine:
            (self.directory / f"machine{self.count}.yaml").write_text(machine)
            config["machine"] = f"machine{self.count}.yaml"
        path = self.directory / f"pipe{self.count}.json"
        path.write_text(json.dumps(config))
        return path

    def start(self, *files):
        pipe = RunningPipe(PAWL, self.directory / f"log{len(self.pipes)}", *files)
        self.pipes.append(pipe)
        return pipe

    def run_pipe(self, machine=None, **parts):
        return self.start(self.config(machine, **parts))

    # --- Seeing ---

    def settle(self, topic=None, group=None, seconds=40):
        topic, group = topic or self.topic, group or self.topic
        wait_for(lambda: f"everything of {topic} to be committed: {KAFKA.committed(group, topic)} of {KAFKA.watermarks(topic)}",
                 lambda: is_settled(KAFKA, group, topic), seconds)

    def records(self):
        """Of the topic of errors, by key; headers by name. A repeat replaces the one before."""
        found = {}
        for message in KAFKA.consume(self.errors):
            headers = {name: value.decode("utf-8", "replace") for name, value in message["headers"]}
            found[message["key"].decode()] = {"value": message["value"], **headers}
        return found

    def ids(self):
        return {document for _, document in self.sink.documents()}

    def check(self, errors=None, topic=None, missing=(), index="docs"):
        """`errors` is offset -> code, or (partition, offset) -> code; `missing` are offsets of neither. The records."""
        topic = topic or self.topic
        expected = {f"{topic}/{place[0]}/{place[1]}": code for place, code in
                    ((place if isinstance(place, tuple) else (0, place), code) for place, code in (errors or {}).items())}
        documents = self.sink.documents()
        records = {key: record for key, record in self.records().items() if key.startswith(f"{topic}/")}
        self.assertEqual({key: int(record["pawl.code"]) for key, record in records.items()}, expected)
        due = {}
        for message in KAFKA.consume(topic):
            place = f"{message['partition']}/{message['offset']}"
            if f"{topic}/{place}" in records:
                record = records[f"{topic}/{place}"]
                self.assertTrue(record["pawl.reason"])
                if record.get("pawl.payload_omitted") != "true":
                    self.assertEqual(record["value"], message["value"])
            elif message["offset"] not in missing:
                due[index, f"{topic}-{place.replace('/', '-')}"] = json.loads(message["value"])
        found = {place: document["source"] for place, document in documents.items() if place[1].startswith(f"{topic}-")}
        self.assertEqual(found, due)
        return records


class Poison(PipeTest):
    def test_s1_8_to_10_codes_4_7_8_9(self):
        self.create()
        bad = [(b"\xff\xfe{}", 7), (b"{\"n\": 1", 7), (b"", 7), (b"no json", 7), (b"[1]", 8), (b"{}", 8), (b"{\"n\": \"x\"}", 8),
               (b"{\"n\": null}", 8), (b"{\"n\": 1, \"kind\": \"UPPER\"}", 9), (b"{\"n\": 1}", 9),
               (json.dumps({"n": 1, "kind": "k", "text": "x" * 3000}).encode(), 4)]
        messages, expected = [], {}
        for number, (value, code) in enumerate(bad):
            messages += [event(number, kind="good"), value]
            expected[2 * number + 1] = code
        KAFKA.produce(self.topic, messages, "--header", "color=blue")
        self.run_pipe(transform={"require": {"n": "int"}, "index": "docs-{data.kind}", "document_bytes": 2048})
        self.settle()
        records = self.check(expected, index="docs-good")
        first = records[f"{self.topic}/0/1"]
        self.assertEqual(first["orig.color"], "blue")
        self.assertEqual((first["pawl.state"], first["pawl.error"], first["pawl.pipe"]), ("transform", "invalid_format", self.topic))
        self.assertEqual((first["pawl.topic"], first["pawl.partition"], first["pawl.offset"]), (self.topic, "0", "1"))

    def test_s1_25_nothing_but_poison(self):
        self.create()
        KAFKA.produce(self.topic, ["bad"] * 200)
        self.run_pipe()
        self.settle()
        self.check({offset: 7 for offset in range(200)})
        self.assertEqual(self.sink.stats()["requests"], 0)

    def test_errors_as_json(self):
        self.create()
        KAFKA.produce(self.topic, [(b"\xff", b"\xfe"), ("key", "bad"), event(2)])
        self.run_pipe(errors={"format": "json"})
        self.settle()
        records = [json.loads(message["value"]) for message in KAFKA.consume(self.errors)]
        self.assertEqual([(record["code"], record["source"]["offset"], record["payload"], record["payload_enc"])
                          for record in records], [(7, 0, "/g==", "base64"), (7, 1, "bad", "utf8")])
        self.assertEqual(self.ids(), {f"{self.topic}-0-2"})

    def test_errors_too_big_are_kept_by_reference(self):
        self.create(max_message_bytes=2000)
        KAFKA.produce(self.topic, ["bad" * 2000, "bad", event(1)])
        self.run_pipe()
        self.settle()
        records = self.check({0: 7, 1: 7})
        big = records[f"{self.topic}/0/0"]
        self.assertEqual((big["pawl.payload_omitted"], big["pawl.payload_bytes"]), ("true", "6000"))

    def test_s1_22_the_topic_of_errors_comes_later(self):
        self.create(errors=False)
        KAFKA.produce(self.topic, [event(0), "bad", event(2)])
        pipe = self.run_pipe()
        failure = wait_for("a failure to send errors", lambda: pipe.events("failed", state="send_errors"))[0]
        self.assertEqual(failure["code"], "topic_not_found")
        KAFKA.produce(self.topic, [event(number) for number in range(3, 50)])
        wait_for("what comes behind", lambda: len(self.ids()) == 49)
        time.sleep(0.5)
        self.assertLessEqual(KAFKA.committed(self.topic, self.topic)[0] or 0, 1)
        KAFKA.create(self.errors)
        self.settle()
        self.check({1: 7})

    def test_tombstones(self):
        self.create()
        messages = [("a", event(0)), ("b", event(1)), ("a", None), ("b", event(3)), (None, None)]
        KAFKA.produce(self.topic, messages)
        pipe = self.run_pipe(transform={"id": "key", "tombstone": "delete"})
        wait_for("a record", lambda: f"{self.topic}/0/4" in self.records())
        self.settle()
        documents = self.sink.documents()
        self.assertEqual({place: document["source"]["n"] for place, document in documents.items()}, {("docs", "b"): 3})
        self.assertEqual(pipe.stop(), 0)
        self.sink.reset()
        KAFKA.tool("commit", self.topic, self.topic, 0, 0)
        pipe = self.run_pipe(transform={"tombstone": "error"})
        self.settle()
        self.check({2: 8, 4: 8})
        self.assertEqual(pipe.stop(), 0)
        self.sink.reset()
        KAFKA.tool("commit", self.topic, self.topic, 0, 0)
        self.run_pipe()
        self.settle()
        self.assertEqual(self.ids(), {f"{self.topic}-0-{offset}" for offset in (0, 1, 3)})


class Transforming(PipeTest):
    def test_s1_23_river_and_daily(self):
        self.create()
        rivers = [{"index": "left", "id": "a", "source": {"n": 1}}, {"index": "right", "id": "b", "source": {"n": 2}},
                  {"index": "left", "source": {"n": 3}}, {"index": "left", "id": "c"}, {"id": "d", "source": {}}]
        KAFKA.produce(self.topic, [json.dumps(river) for river in rivers])
        pipe = self.run_pipe(transform={"message": "river", "index": "unnamed"})
        self.settle()
        documents = {place: document["source"] for place, document in self.sink.documents().items()}
        self.assertEqual((documents["left", "a"], documents["right", "b"]), ({"n": 1}, {"n": 2}))
        self.assertEqual(len(documents) + len(self.records()), len(rivers))
        self.assertEqual({record["pawl.code"] for record in self.records().values()}, {"8"})
        self.assertEqual(pipe.stop(), 0)

        self.sink.reset()
        self.topic += "_daily"
        KAFKA.create(self.topic)
        KAFKA.produce(self.topic, [event(0, at=DAY_MS), event(1, at=DAY_MS + 86400000 - 1), event(2, at=DAY_MS + 86400000),
                                   event(3, at="never")])
        self.run_pipe(transform={"index": {"daily": "days"}, "time": {"field": "at", "format": "millis"}})
        self.settle()
        self.assertEqual({(place[0], document["source"]["n"]) for place, document in self.sink.documents().items()},
                         {("days-2026.03.02", 0), ("days-2026.03.02", 1), ("days-2026.03.03", 2)})
        self.assertEqual(self.records()[f"{self.topic}/0/3"]["pawl.code"], "9")

    def test_by_the_time_of_the_record(self):
        self.create()
        KAFKA.produce(self.topic, [event(0)], "--timestamp", DAY_MS)
        self.run_pipe(transform={"index": "days-{time:%Y.%m.%d}"})
        self.settle()
        self.check(index="days-2026.03.02")


class Loading(PipeTest):
    def answers(self, machine, faults):
        """Each fault by itself, with some messages; nothing becomes an error by any of them."""
        self.create(2)
        pipe = self.run_pipe(machine, opensearch={"timeout": "1s"})
        for number, (code, fault) in enumerate(faults):
            with self.subTest(fault=fault):
                self.sink.script({"times": 1, **fault})
                before = len(pipe.events("failed", state="load"))
                KAFKA.produce(self.topic, [event(number * 100 + i, text="x" * 50) for i in range(30)])
                self.settle()
                if code:
                    self.assertIn(code, [failed["code"] for failed in pipe.events("failed", state="load")[before:]])
                self.assertEqual(self.sink.stats()["faults_left"], 0)
                self.check()
        self.assertEqual(pipe.stop(), 0)

    def test_s1_11_12_14_whole_requests(self):
        self.answers(None, [("es_5xx", {"status": 503}), ("es_5xx", {"status": 500}), ("es_5xx", {"status": 507}),
                            ("es_4xx", {"status": 401}), ("es_4xx", {"status": 403}), ("es_4xx", {"status": 404}),
                            ("es_4xx", {"status": 405}), ("es_4xx", {"status": 410}), ("es_busy", {"status": 429}),
                            ("es_unavailable", {"status": 502}), ("es_unavailable", {"status": 504}),
                            ("es_5xx", {"status": 500, "apply": True}), (None, {"status": 400}), (None, {"status": 413})])

    def test_s1_7_broken_answers(self):
        self.answers(None, [("network", {"short_items": True}), ("network", {"garbage": True}), ("network", {"truncate": True}),
                            (None, {"close": "before"}), ("network", {"close": "after_headers"}),
                            ("network", {"close": "mid_body"}), ("network", {"delay_ms": 1500}),
                            ("network", {"status": 200, "body": ""}), ("network", {"status": 200, "body": "{}"}),
                            ("network", {"status": 200, "body": '{"items":[]}'})])

    def test_retry_after(self):
        self.create()
        KAFKA.produce(self.topic, [event(0)])
        self.sink.script({"status": 429, "retry_after": 2})
        pipe = self.run_pipe(FAST)
        self.settle()
        self.check()
        failed = pipe.events("failed", code="es_busy")[0]
        self.assertGreater(seconds_until(failed), 1.8)

    def test_s1_29_delays(self):
        self.create()
        self.sink.script({"times": 4, "status": 503})
        KAFKA.produce(self.topic, [event(0)])
        pipe = self.run_pipe()
        self.settle()
        self.sink.script({"times": 1, "status": 503})
        KAFKA.produce(self.topic, [event(1)])
        self.settle()
        self.check()
        failures = pipe.events("failed", code="es_5xx")
        self.assertEqual([failed["failures"] for failed in failures], ["1", "2", "3", "4", "1"])
        for failed in failures:
            due = 0.3 * 2 ** (int(failed["failures"]) - 1)
            self.assertGreater(seconds_until(failed), 0.5 * due - 0.1)
            self.assertLess(seconds_until(failed), 1.5 * due + 0.1)

    def test_s1_13_items(self):
        self.create()
        self.sink.script({"times": 3, "items": [{"match": "busy", "status": 429}, {"match": "away", "status": 503},
                                                {"match": "refused", "status": 400, "type": "mapper_parsing_exception",
                                                 "reason": "no number"},
                                                {"match": "large", "status": 413}, {"match": "gone", "status": 404},
                                                {"match": "known", "status": 409}]})
        kinds = ["good", "busy", "refused", "away", "good", "large", "known", "gone", "busy"]
        KAFKA.produce(self.topic, [event(number, kind=kind) for number, kind in enumerate(kinds)])
        pipe = self.run_pipe(FAST)
        self.settle()
        self.sink.script()
        # 404 with the type of a missing index waits for somebody; the sink gives that type.
        records = self.check({2: 12, 5: 12}, missing=(6,))
        refused = records[f"{self.topic}/0/2"]
        self.assertEqual((refused["pawl.es_status"], refused["pawl.es_type"], refused["pawl.id"], refused["pawl.index"]),
                         ("400", "mapper_parsing_exception", f"{self.topic}-0-2", "docs"))
        self.assertIn("no number", refused["pawl.reason"])
        self.assertEqual({failed["code"] for failed in pipe.events("failed")}, {"bulk_item_blocked"})
        self.assertEqual(self.sink.documents()["docs", f"{self.topic}-0-0"]["writes"], 1)

    def test_an_item_that_is_stuck_holds_the_offset(self):
        self.create()
        self.sink.script({"times": -1, "items": [{"match": "\"n\": 70,", "status": 403, "type": "cluster_block_exception"}]})
        KAFKA.produce(self.topic, [event(number, text="") for number in range(100)])
        pipe = self.run_pipe(FAST, batch={"messages": 20}, kafka={"drain_timeout": "2s"})
        wait_for("the others", lambda: len(self.ids()) == 99)
        wait_for("some attempts", lambda: len(pipe.events("failed", code="bulk_item_blocked")) > 3)
        KAFKA.produce(self.topic, [event(number, text="") for number in range(100, 130)])
        wait_for("those behind it", lambda: len(self.ids()) == 129)
        time.sleep(0.5)
        self.assertEqual(KAFKA.committed(self.topic, self.topic)[0], 60)
        self.assertEqual(pipe.stop(90), 0)
        self.assertEqual(KAFKA.committed(self.topic, self.topic)[0], 60)
        self.sink.script()
        self.run_pipe(FAST)
        self.settle()
        self.check()

    def test_a_blocked_item_is_given_up_as_retryable(self):
        self.create()
        self.sink.script({"times": -1, "items": [{"match": "\"kind\": \"no\"", "status": 403}]})
        KAFKA.produce(self.topic, [event(number, kind="no" if number == 7 else "good") for number in range(20)])
        self.run_pipe(machine_text(delays("50ms", "200ms"), ("max: 90s, jitter: ±50%, attempts: 15", "max: 500ms, attempts: 4")))
        self.settle()
        records = self.check({7: 12})
        self.assertEqual(records[f"{self.topic}/0/7"]["pawl.retryable"], "true")

    def test_r1_4_refused_requests_in_halves(self):
        self.create()
        self.sink.script({"times": -1, "status": 400, "if_contains": "poison"}, {"times": -1, "status": 413, "if_body_over": 3000})
        messages = [event(number) for number in range(60)]
        messages[13] = event(13, kind="poison")
        messages[40] = event(40, kind="poison")
        messages[41] = event(41, text="x" * 4000)
        KAFKA.produce(self.topic, messages)
        self.run_pipe()
        self.settle()
        records = self.check({13: 12, 40: 12, 41: 4})
        self.assertEqual(records[f"{self.topic}/0/41"]["pawl.es_status"], "413")

    def test_code_11_by_one_document(self):
        self.create()
        self.sink.script({"times": -1, "status": 500, "if_contains": "poison"})
        KAFKA.produce(self.topic, [event(number, kind="poison" if number == 21 else "good") for number in range(40)])
        self.run_pipe(FAST)
        self.settle()
        records = self.check({21: 11})
        self.assertEqual(records[f"{self.topic}/0/21"]["pawl.retryable"], "true")

    def test_several_nodes(self):
        self.create(2)
        with SearchSink(SEARCH_SINK) as other:
            dead = other.port
        KAFKA.produce(self.topic, [event(number) for number in range(500)])
        self.start(self.with_urls(dead))
        self.settle()
        self.check()

    def with_urls(self, dead):
        path = self.config(batch={"messages": 20})
        config = json.loads(path.read_text())
        config["opensearch"] = {"urls": [f"http://127.0.0.1:{dead}", f"http://127.0.0.1:{self.sink.port}"]}
        path.write_text(json.dumps(config))
        return path

    def test_search_away_and_back(self):
        self.create(2)
        port = self.sink.port
        self.sink.__exit__()
        KAFKA.produce(self.topic, [event(number) for number in range(200)])
        pipe = self.run_pipe(FAST)
        failed = wait_for("a failure", lambda: pipe.events("failed", state="load"))[0]
        self.assertEqual(failed["code"], "es_unavailable")
        self.assertEqual([offset or 0 for offset in KAFKA.committed(self.topic, self.topic).values()], [0, 0])
        self.sink = SearchSink(SEARCH_SINK, port=port)
        self.addCleanup(self.sink.__exit__)
        self.settle()
        self.check()

    def test_gzip_and_keys(self):
        self.create()
        KAFKA.produce(self.topic, [(f"key{number % 7}", event(number)) for number in range(300)])
        self.run_pipe(transform={"id": "key"}, opensearch={"gzip": True}, batch={"messages": 10, "in_flight": 4})
        self.settle()
        self.assertEqual({place[1]: document["source"]["n"] for place, document in self.sink.documents().items()},
                         {f"key{number % 7}": number for number in range(293, 300)})


def seconds_until(failed):
    return seconds_of(failed["next_at"]) - failed["time"]


class Steering(PipeTest):
    def test_the_machine_file_decides(self):
        self.create()
        machine = machine_text(("es_5xx: retry ", "es_5xx: {retry: {first: 1500ms, factor: 1, max: 1500ms}} "),
                               ("transformation_error: give_up ", "transformation_error: done "))
        self.sink.script({"times": 2, "status": 503})
        KAFKA.produce(self.topic, [event(0, kind="a"), event(1, kind="UPPER"), event(2, kind="a")])
        pipe = self.run_pipe(machine, transform={"index": "{data.kind}"})
        self.settle()
        self.check(missing=(1,), index="a")
        waits = [seconds_until(failed) for failed in pipe.events("failed", code="es_5xx")]
        self.assertEqual(len(waits), 2)
        for wait in waits:
            self.assertGreater(wait, 0.7)
            self.assertLess(wait, 2.4)


class Offsets(PipeTest):
    def test_s1_15_no_offset_yet(self):
        self.create()
        KAFKA.produce(self.topic, [event(number) for number in range(5)])
        self.run_pipe(kafka={"start": "latest"})
        wait_for("the offset it begins at", lambda: KAFKA.committed(self.topic, self.topic)[0] == 5)
        KAFKA.produce(self.topic, [event(number) for number in range(5, 8)])
        self.settle()
        self.check(missing=range(5))

    def test_s1_16_too_old(self):
        self.create()
        KAFKA.produce(self.topic, [event(number) for number in range(20)])
        KAFKA.tool("commit", self.topic, self.topic, 0, 3)
        KAFKA.tool("delete-records", self.topic, 0, 10)
        pipe = self.run_pipe(kafka={"start": "latest"})
        self.settle()
        records = self.check({3: 5})
        self.assertEqual(records[f"{self.topic}/0/3"]["pawl.last_offset"], "9")
        self.assertEqual((pipe.events("gap")[0]["first"], pipe.events("gap")[0]["last"]), ("3", "9"))

    def test_s1_16_what_is_lost_is_noted_before_it_is_committed(self):
        self.create(errors=False)
        KAFKA.produce(self.topic, [event(number) for number in range(10)])
        KAFKA.tool("commit", self.topic, self.topic, 0, 3)
        KAFKA.tool("delete-records", self.topic, 0, "end")
        pipe = self.run_pipe()
        wait_for("a failure to send errors", lambda: pipe.events("failed", state="send_errors"))
        time.sleep(0.5)
        self.assertEqual(KAFKA.committed(self.topic, self.topic)[0], 3)
        pipe.kill()
        KAFKA.create(self.errors)
        self.run_pipe()
        self.settle()
        self.check({3: 5})

    def test_s1_17_beyond_the_end(self):
        for start in ("earliest", "latest"):
            with self.subTest(start=start):
                self.topic, self.errors = f"beyond_{start}", f"beyond_{start}-errors"
                self.create()
                KAFKA.produce(self.topic, [event(number) for number in range(10)])
                KAFKA.tool("commit", self.topic, self.topic, 0, 15)
                pipe = self.run_pipe(kafka={"start": start})
                wait_for("the offset it begins at", lambda: KAFKA.committed(self.topic, self.topic)[0] == 10)
                KAFKA.produce(self.topic, [event(number) for number in range(10, 13)])
                self.settle()
                self.assertEqual(pipe.stop(), 0)
                # What comes while it is down is not lost either.
                KAFKA.produce(self.topic, [event(number) for number in range(13, 20)])
                self.run_pipe(kafka={"start": start})
                self.settle()
                self.check(missing=range(10))


class Away(PipeTest):
    def test_s1_2_kafka_is_killed_and_comes_back(self):
        self.create(2)
        KAFKA.produce(self.topic, [event(number) for number in range(1000)])
        pipe = self.run_pipe(FAST)
        self.settle()
        KAFKA.kill()
        failed = wait_for("a failure", lambda: pipe.events("failed", code="kafka_unavailable"))[0]
        self.assertEqual(failed["state"], "extract")
        KAFKA.start()
        KAFKA.produce(self.topic, [event(number) for number in range(1000, 2000)] + ["bad"])
        self.settle()
        place = next((message["partition"], message["offset"]) for message in KAFKA.consume(self.topic) if message["value"] == b"bad")
        self.check({place: 7})
        self.assertEqual(pipe.stop(), 0)

    def test_stops_while_kafka_is_away(self):
        self.create(2)
        KAFKA.produce(self.topic, [event(number) for number in range(100)])
        pipe = self.run_pipe(kafka={"drain_timeout": "2s"})
        self.settle()
        KAFKA.kill()
        try:
            time.sleep(1)
            self.assertEqual(pipe.stop(30), 0)
        finally:
            KAFKA.start()

    def test_s1_7_kafka_hangs(self):
        self.create(2)
        KAFKA.produce(self.topic, [event(number) for number in range(500)])
        pipe = self.run_pipe()
        self.settle()
        KAFKA.pause()
        try:
            time.sleep(8)
        finally:
            KAFKA.resume()
        KAFKA.produce(self.topic, [event(number) for number in range(500, 1000)])
        self.settle()
        self.check()
        self.assertEqual(pipe.stop(), 0)

    def test_starts_while_kafka_is_away(self):
        self.create()
        KAFKA.produce(self.topic, [event(0)])
        KAFKA.kill()
        try:
            pipe = self.run_pipe()
            time.sleep(2)
            self.assertTrue(pipe.runs())
        finally:
            KAFKA.start()
        self.settle()
        self.check()

    def test_s1_3_a_topic_that_comes_later(self):
        for assignment in ("group", "fixed"):
            with self.subTest(assignment=assignment):
                self.topic, self.errors = f"later_{assignment}", f"later_{assignment}-errors"
                pipe = self.run_pipe(kafka={"assignment": assignment})
                time.sleep(2)
                self.assertTrue(pipe.runs())
                self.create()
                KAFKA.produce(self.topic, [event(0), "bad"])
                self.settle()
                self.check({1: 7})
                self.assertEqual(pipe.stop(), 0)

    def test_s1_4_a_partition_that_comes_later(self):
        self.create()
        KAFKA.produce(self.topic, [event(0)])
        pipe = self.run_pipe(kafka={"assignment": "fixed", "topics": [{"topic": self.topic, "partitions": [0, 2]}]})
        self.settle()
        wait_for("a failure", lambda: pipe.events("failed", partition=f"{self.topic}/2", code="partition_not_found"))
        self.assertEqual(pipe.events("failed", partition=f"{self.topic}/0"), [])
        KAFKA.tool("add-partitions", self.topic, 3)
        KAFKA.produce(self.topic, [event(1)], "--partition", 2)
        wait_for("its document", lambda: f"{self.topic}-2-0" in self.ids())
        wait_for("its commit", lambda: KAFKA.committed(self.topic, self.topic)[2] == 1)
        self.check()


    def test_s1_6_deleted_while_it_was_away(self):
        """Too old for a pipe that is running: retention was faster than the search node."""
        self.create()
        KAFKA.produce(self.topic, [event(number, text="x" * 5000) for number in range(4000)])
        self.sink.script({"times": -1, "status": 503})
        pipe = self.run_pipe(FAST, kafka={"fetch_memory": "1MiB"}, batch={"messages": 50, "in_flight": 1})
        wait_for("a failure", lambda: pipe.events("failed", code="es_5xx"))
        time.sleep(1)
        KAFKA.tool("delete-records", self.topic, 0, 3900)
        self.sink.script()
        self.settle()
        gap = wait_for("a gap", lambda: pipe.events("gap"))[-1]
        self.assertEqual(gap["last"], "3899")
        records = self.records()
        self.assertEqual(records[f"{self.topic}/0/{gap['first']}"]["pawl.last_offset"], "3899")
        self.assertEqual(len(records), 1)
        self.assertEqual(self.ids(), {f"{self.topic}-0-{offset}" for offset in
                                      [*range(int(gap["first"])), *range(3900, 4000)]})


class Choosing(PipeTest):
    def test_s1_27_topics_and_partitions(self):  # S1-27
        other = self.topic + "_b"
        self.create(3)
        KAFKA.create(other, 3)
        for partition in range(3):
            for topic in (self.topic, other):
                KAFKA.produce(topic, [event(number) for number in range(20)], "--partition", partition)
        pipe = self.run_pipe(kafka={"assignment": "fixed", "topics": [self.topic, {"topic": other, "partitions": [0, 2]}]},
                             transform={"index": "{topic}"})
        wait_for("all documents", lambda: len(self.ids()) == 100)
        wait_for("commits", lambda: list(KAFKA.committed(self.topic, other).values()) == [20, None, 20])
        self.settle()
        self.assertEqual(pipe.events("assigned")[-1]["partitions"], "5")
        self.check(index=self.topic)
        self.assertEqual(self.ids() & {f"{other}-1-{number}" for number in range(20)}, set())
        self.assertEqual(pipe.stop(), 0)

    def test_two_pipes_in_one_process(self):
        self.create()
        first = self.topic
        one = self.config(transform={"index": "one"})
        self.topic += "_b"
        KAFKA.create(self.topic)
        two = self.config(transform={"index": "two"}, errors={"topic": f"{self.topic}-none"})
        pipe = self.start(one, two)
        KAFKA.produce(first, [event(0), "bad"])
        KAFKA.produce(self.topic, [event(0), "bad"])
        self.settle(first, first)
        wait_for("what the other cannot do", lambda: pipe.events("failed", pipe=self.topic, state="send_errors"))
        wait_for("both documents", lambda: len(self.ids()) == 2)
        self.check({1: 7}, topic=first, index="one")
        KAFKA.create(f"{self.topic}-none")
        self.settle()
        self.assertEqual(pipe.stop(), 0)

    def test_new_partitions_are_found(self):
        for assignment in ("group", "fixed"):
            with self.subTest(assignment=assignment):
                self.topic, self.errors = f"more_{assignment}", f"more_{assignment}-errors"
                self.create()
                KAFKA.produce(self.topic, [event(0)])
                self.run_pipe(kafka={"assignment": assignment, "find_every": "1s"})
                self.settle()
                KAFKA.tool("add-partitions", self.topic, 3)
                for partition in range(3):
                    KAFKA.produce(self.topic, [event(partition)], "--partition", partition)
                self.settle()
                self.check()


class Ending(PipeTest):
    def flowing(self, step=200):
        """Messages while something happens; ends with the last of them acknowledged."""
        stop = threading.Event()

        def run():
            number = 0
            while not stop.is_set():
                KAFKA.produce(self.topic, [event(number + i) if i % 50 else "bad" for i in range(step)])
                number += step
                stop.wait(0.05)
        thread = threading.Thread(target=run)
        thread.start()

        def end():
            stop.set()
            thread.join(60)
        self.addCleanup(end)
        return end

    def poison(self):
        return {(message["partition"], message["offset"]): 7 for message in KAFKA.consume(self.topic) if message["value"] == b"bad"}

    def test_sigterm_drains_and_commits(self):
        self.create(2)
        self.sink.script({"times": -1, "delay_ms": 300})
        for partition in range(2):
            KAFKA.produce(self.topic, [event(number) for number in range(2000)], "--partition", partition)
        pipe = self.run_pipe(batch={"messages": 50})
        wait_for("some documents", lambda: len(self.ids()) > 200)
        self.assertEqual(pipe.stop(), 0)
        committed = KAFKA.committed(self.topic, self.topic)
        self.assertEqual(self.ids(), {f"{self.topic}-{partition}-{offset}" for partition, end in committed.items()
                                      for offset in range(end)})
        self.assertLess(sum(committed.values()), 4000)
        self.sink.script()
        self.run_pipe()
        self.settle()
        self.check()
        self.assertEqual({document["writes"] for document in self.sink.documents().values()}, {1})

    def test_killed_and_started_again(self):
        self.create(2)
        end = self.flowing()
        for _ in range(4):
            pipe = self.run_pipe(kafka={"instance": "only"})
            already = len(self.ids())
            wait_for("new documents", lambda: len(self.ids()) > already)
            pipe.kill()
            committed = KAFKA.committed(self.topic, self.topic)
            have = self.ids() | {key.replace("/", "-") for key in self.records()}
            for partition, offset in committed.items():
                self.assertLessEqual({f"{self.topic}-{partition}-{before}" for before in range(offset or 0)}, have)
        end()
        self.run_pipe(kafka={"instance": "only"})
        self.settle()
        self.check(self.poison())

    def test_members_join_and_leave(self):
        self.create(4)
        end = self.flowing()
        first = self.run_pipe()
        wait_for("the first to have all", lambda: said(first) == 4)
        second = self.run_pipe()
        wait_for("the second to have its half", lambda: said(second) == 2 and said(first) == 2)
        self.assertEqual(second.stop(), 0)
        wait_for("the first to have all again", lambda: said(first) == 4)
        third = self.run_pipe()
        wait_for("the third to have its half", lambda: said(third) == 2)
        third.kill()
        wait_for("the first to have all of the dead one", lambda: said(first) == 4, 90)
        end()
        self.settle()
        self.check(self.poison())


def said(pipe):
    """How many partitions it had when it said so last."""
    events = [event for event in pipe.events() if event["event"] in ("assigned", "revoked", "lost")]
    return int(events[-1]["partitions"]) if events and events[-1]["event"] == "assigned" else 0


def setUpModule():
    global KAFKA
    KAFKA = Kafka(TOPIC_TOOL)
    KAFKA.__enter__()
    unittest.addModuleCleanup(KAFKA.__exit__)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("pawl", "topic_tool", "search_sink"):
        parser.add_argument(name)
    known, rest = parser.parse_known_args()
    PAWL, TOPIC_TOOL, SEARCH_SINK = known.pawl, known.topic_tool, known.search_sink
    unittest.main(argv=["pipe_test.py", *rest])
