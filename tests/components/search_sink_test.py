#!/usr/bin/env python3
"""The search node that fails as it is told: search_sink_test.py SEARCH_SINK"""

import gzip
import http.client
import json
import sys
import tempfile
import threading
import unittest

from http_node import action
from search_sink import SearchSink


def put(identifier, document=None, index="a", **more):
    return action("index", {"n": 1} if document is None else document, index=index, id=identifier, **more)


class SinkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sink = SearchSink(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.sink.__exit__()

    def setUp(self):
        self.sink.reset()

    def post(self, *actions, path="/_bulk", **more):
        return self.sink.ask("POST", path, "".join(actions), **more)

    def statuses(self, *actions):
        return [item["status"] for item in self.sink.bulk(*actions)]


class WritesDocuments(SinkTest):
    def test_keeps_what_was_written_and_counts_it(self):
        self.assertEqual(self.statuses(put("1", {"x": "é"}), put("1"), put("2", index="b")), [201, 200, 201])
        self.assertEqual(self.statuses(action("delete", index="b", id="2"), action("delete", index="b", id="9")), [200, 404])
        documents = self.sink.documents()
        self.assertEqual(documents, {("a", "1"): {"index": "a", "id": "1", "version": 2, "writes": 2, "source": {"n": 1}}})
        stats = self.sink.stats()
        self.assertEqual((stats["requests"], stats["documents"], stats["answers"]), (2, 1, {"200": 2}))
        self.assertEqual(stats["items"], {"200": 2, "201": 2, "404": 1})

    def test_takes_the_index_from_the_path_and_makes_ids(self):
        self.sink.bulk(action("index", {}), action("create", {}), path="/x/_bulk?refresh=true")
        self.assertEqual([key[0] for key in self.sink.documents("x")], ["x", "x"])

    def test_lists_many_documents_by_index(self):
        self.sink.bulk(*(put(f"{i:05}", index="many" if i % 2 else "other") for i in range(5000)))
        self.assertEqual(len(self.sink.documents()), 5000)
        self.assertEqual(len(self.sink.documents("many")), 2500)
        self.assertEqual(len(self.sink.documents("man*")), 2500)
        self.assertEqual(len(self.sink.documents("man")), 0)

    def test_orders_by_external_version(self):
        def at(version, kind="external_gte"):
            return put("v", {"at": version}, version=version, version_type=kind)
        self.assertEqual(self.statuses(at(10), at(10), at(9), at(10, "external"), at(11, "external")),
                         [201, 200, 409, 409, 200])
        deleted = action("delete", index="a", id="v", version=20, version_type="external_gte")
        self.assertEqual(self.statuses(deleted, at(19), at(20)), [200, 409, 201])
        self.assertEqual(self.sink.documents()["a", "v"]["version"], 20)

    def test_refuses_single_items_as_the_node_does(self):
        bad = [put("1", "{,}"), put("1", "[]"), put("1", index="Upper"), put("1", index="x" * 256), put("ok"),
               action("create", {}, index="a", id="ok")]
        items = self.sink.bulk(*bad)
        self.assertEqual([item["status"] for item in items], [400, 400, 400, 400, 201, 409])
        self.assertEqual([item.get("error", {}).get("type") for item in items],
                         ["mapper_parsing_exception"] * 2 + ["invalid_index_name_exception"] * 2 +
                         [None, "version_conflict_engine_exception"])

    def test_refuses_whole_requests_as_the_node_does(self):
        good = put("good")
        for body in ("", good[:-1], good + "garbage\n", good + action("frob", {}), good + action("index", {}, id="1"),
                     good + put("x" * 513), good + put("1", _type="t"),
                     good + action("create", {}, index="a", id="1", version=1, version_type="external")):
            status, _, text = self.post(body)
            self.assertEqual((status, json.loads(text)["status"]), (400, 400), body)
            self.assertIn("reason", json.loads(text)["error"])
        status, _, text = self.post(good, headers={"content-type": "text/plain"})
        self.assertEqual((status, type(json.loads(text)["error"])), (406, str))
        self.assertEqual(self.sink.documents(), {})

    def test_filters_the_answer_and_inflates_the_request(self):
        answer = self.sink.json("POST", "/_bulk?filter_path=errors,items.*.status,items.*.error.type", put("1") + put("2", "x"))
        self.assertEqual(answer, {"errors": True, "items": [
            {"index": {"status": 201}}, {"index": {"status": 400, "error": {"type": "mapper_parsing_exception"}}}]})
        status, _, _ = self.sink.ask("POST", "/_bulk", gzip.compress(put("z").encode()),
                                     {"content-type": "application/x-ndjson", "content-encoding": "gzip"})
        self.assertEqual((status, ("a", "z") in self.sink.documents()), (200, True))

    def test_says_which_engine_it_is(self):
        self.assertEqual(self.sink.json("GET", "/")["version"]["distribution"], "opensearch")
        with SearchSink(PROGRAM, "--engine", "elasticsearch") as other:
            _, headers, text = other.ask("GET", "/")
            self.assertEqual(headers["x-elastic-product"], "Elasticsearch")
            self.assertNotIn("distribution", json.loads(text)["version"])
            self.assertEqual(list(other.json("POST", "/_bulk", put("1"))), ["errors", "took", "items"])


class FailsAsTold(SinkTest):
    def test_answers_whole_requests_in_the_order_of_the_script(self):
        self.sink.script({"status": 503, "times": 2}, {"status": 429, "retry_after": 7}, {"status": 413},
                         {"status": 502, "body": "<html>"}, {"status": 401, "type": "t", "reason": "r"})
        seen = [self.post(put("1")) for _ in range(7)]
        self.assertEqual([status for status, _, _ in seen], [503, 503, 429, 413, 502, 401, 200])
        self.assertEqual(seen[2][1]["retry-after"], "7")
        self.assertEqual((seen[3][2], seen[4][2]), (b"", b"<html>"))
        self.assertEqual(json.loads(seen[5][2])["error"]["type"], "t")
        self.assertEqual(self.sink.documents()["a", "1"]["writes"], 1)
        self.assertEqual(self.sink.stats()["faults_left"], 0)

    def test_can_write_and_say_that_it_did_not(self):
        self.sink.script({"status": 504, "apply": True})
        self.assertEqual(self.post(put("1"))[0], 504)
        self.assertEqual(len(self.sink.documents()), 1)

    def test_closes_the_connection(self):
        for where, written in (("before", 0), ("after_headers", 1), ("mid_body", 1)):
            self.sink.reset()
            self.sink.script({"close": where})
            with self.assertRaises((http.client.HTTPException, OSError), msg=where):
                self.post(put("1"))
            self.assertEqual(len(self.sink.documents()), written, where)
            self.assertEqual(self.sink.stats()["answers"], {"closed": 1})

    def test_spoils_the_answer(self):
        self.sink.script({"short_items": True}, {"garbage": True}, {"truncate": True})
        self.assertEqual(self.statuses(put("1"), put("2")), [201])
        for identifier in ("3", "4"):
            status, _, text = self.post(put(identifier))
            self.assertEqual(status, 200)
            with self.assertRaises(ValueError):
                json.loads(text)
        self.assertEqual(len(self.sink.documents()), 4)

    def test_refuses_documents_that_match(self):
        self.sink.script({"times": -1, "items": [
            {"match": "slow", "status": 429, "type": "es_rejected_execution_exception", "reason": "full", "times": 2},
            {"match": "\"_id\": \"7\"", "status": 403}]})
        body = [put("1", {"s": "slow"}), put("2"), put("3", {"s": "slow"}), put("4", {"s": "slow"}), put("7")]
        items = self.sink.bulk(*body)
        self.assertEqual([item["status"] for item in items], [429, 201, 429, 201, 403])
        self.assertEqual(items[0]["error"], {"type": "es_rejected_execution_exception", "reason": "full"})
        self.assertEqual(self.statuses(*body), [201, 200, 201, 200, 403])

    def test_fails_only_requests_that_meet_the_condition(self):
        self.sink.script({"if_body_over": 1000, "status": 413, "times": -1}, {"if_contains": "poison", "status": 400, "times": -1})
        poison = put("p", {"s": "poison"})
        self.assertEqual(self.post(*(put(str(i)) for i in range(100)))[0], 413)
        self.assertEqual(self.post(put("1"), poison)[0], 400)
        self.assertEqual(self.post(put("1"))[0], 200)
        self.assertEqual(self.post(poison)[0], 400)
        self.sink.script()
        self.assertEqual(self.post(poison)[0], 200)

    def test_delays_and_sees_how_many_come_at_once(self):
        self.sink.script({"delay_ms": 300, "times": 4})
        threads = [threading.Thread(target=self.post, args=(put(str(i)),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.sink.documents()), 4)
        self.assertGreater(self.sink.stats()["max_concurrent"], 1)

    def test_refuses_a_script_that_it_does_not_understand(self):
        for script in ("{}", "[1]", '[{"statu":1}]', '[{"close":"now"}]', '[{"items":[{"match":"x","status":200}]}]', "["):
            status, _, text = self.sink.ask("POST", "/_script", script)
            self.assertEqual(status, 400, script)
            self.assertTrue(json.loads(text)["error"]["reason"])

    def test_logs_a_line_for_each_request(self):
        with tempfile.NamedTemporaryFile() as log, SearchSink(PROGRAM, "--log", log.name) as sink:
            sink.script({"status": 503})
            for _ in range(2):
                sink.ask("POST", "/_bulk", put("1"))
            lines = [json.loads(line) for line in log]
        self.assertEqual([(line["request"], line["status"], line["items"]) for line in lines], [(1, 503, 0), (2, 200, 1)])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
