#!/usr/bin/env python3
"""`pawl pipe` between a real Kafka and a real OpenSearch, while all three are killed at random and members come and go.

chaos.py PAWL TOPIC_TOOL [--rounds N] [--minutes M] [--messages N] [--seed S] [--at-least N] [--brokers N] [--engine es8]

A round loads so many messages, one in a hundred of each kind of poison among them, from four partitions; the search node has
a write queue of 1, so that it refuses documents. At the end documents and keys of the topic of errors are exactly the messages.
A line for each round; --rounds ends after so many, --minutes begins none after so long. A seed repeats the choices.
Of several brokers one at a time is killed, so that leaders move to others.
"""

import argparse
import json
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

from running_pipe import RunningPipe, delays, is_settled, machine_text, wait_for

from nodes import Kafka, Search

PARTITIONS = 4
MEMBERS_MAX = 3
SETTLE_S = 420
TEXT = "a line of text as events have one, of which nobody looks at more than the beginning " * 3

# What is wrong with it, and the code it is found by.
POISON = {
    "not UTF-8": (7, lambda n: b"\xff\xfe" + str(n).encode()),
    "no JSON": (7, lambda n: b'{"n": %d' % n),
    "a field is missing": (8, lambda n: json.dumps({"kind": "k", "m": n}).encode()),
    "no value": (8, lambda n: None),
    "no name of an index": (9, lambda n: json.dumps({"n": n, "kind": "NO NAME"}).encode()),
    "too long": (4, lambda n: json.dumps({"n": n, "kind": "k", "text": "x" * 2000}).encode()),
    "not of the mapping": (12, lambda n: json.dumps({"n": n, "kind": "k", "age": "old"}).encode()),
}


class Round:
    def __init__(self, nodes, number, seed, messages):
        self.kafka, self.search, self.pawl = nodes
        self.random = random.Random(f"{seed}/{number}")
        self.name = f"chaos{number}"
        self.errors = f"{self.name}_errors"
        self.messages = messages
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-chaos-"))
        self.expected = [[] for _ in range(PARTITIONS)]  # of each message its number, or the code as a text
        self.members = []
        self.logs = 0
        self.counts = {"pipe": 0, "broker": 0, "search": 0, "join": 0, "leave": 0}
        self.restart = None

    def run(self):
        """What to print, and how often documents were refused because the search node was busy."""
        began = time.monotonic()
        try:
            self.prepare()
            self.disturb()
            self.settle()
            documents, records = self.check()
        except BaseException:
            self.tell()
            raise
        finally:
            if self.restart:
                self.restart.join()
            for member in self.members:
                if member.runs():
                    member.kill()
        busy = self.failures("bulk_item_busy")
        shutil.rmtree(self.directory, ignore_errors=True)
        kills = self.counts
        return (f"{self.messages} messages: {documents} documents, {records} errors; killed {kills['pipe']} members, the broker "
                f"{kills['broker']}, the search node {kills['search']} times; {kills['join']} joined, {kills['leave']} left; "
                f"{busy} times busy; {time.monotonic() - began:.0f} s"), busy

    # --- Doing ---

    def prepare(self):
        self.kafka.create(self.name, PARTITIONS)
        self.kafka.create(self.errors, 2)
        self.search.json("PUT", f"/{self.name}-k", {"settings": {"number_of_shards": 2, "number_of_replicas": 0},
                                                    "mappings": {"properties": {"age": {"type": "integer"}}}})
        (self.directory / "machine.yaml").write_text(machine_text(delays("100ms", "2s")))
        (self.directory / "pipe.json").write_text(json.dumps({
            "pipe": self.name,
            "kafka": {"brokers": self.kafka.brokers, "group": self.name, "topics": [self.name], "commit_every": "200ms",
                      "drain_timeout": "5s", "options": {"session.timeout.ms": 6000}},
            "transform": {"require": {"n": "int"}, "index": f"{self.name}-{{data.kind}}", "document_bytes": 1024,
                          "tombstone": "error"},
            "opensearch": {"url": f"http://127.0.0.1:{self.search.port}", "timeout": "10s"},
            "errors": {"topic": self.errors},
            "batch": {"messages": 1000},
            "machine": "machine.yaml"}))
        self.kinds = list(POISON.values())
        self.produce(self.messages // 3)
        self.join()

    def produce(self, count):
        for partition in range(PARTITIONS):
            values = []
            for _ in range(count // PARTITIONS):
                number = sum(map(len, self.expected))
                drawn = self.random.randrange(100)
                if drawn < len(self.kinds):
                    code, make = self.kinds[drawn]
                    self.expected[partition].append(str(code))
                    values.append(make(number))
                else:
                    self.expected[partition].append(number)
                    values.append(json.dumps({"n": number, "kind": "k", "age": number % 90, "text": TEXT}))
            self.kafka.produce(self.name, values, "--partition", partition, "--timeout", 120)

    def join(self):
        self.logs += 1
        self.members.append(RunningPipe(self.pawl, self.directory / f"log{self.logs}", self.directory / "pipe.json"))

    def live(self):
        for member in self.members:
            if not member.runs() and member.process.returncode not in (0, -9):
                raise AssertionError(f"a member ended by itself with {member.process.returncode}")
        return [member for member in self.members if member.runs()]

    def disturb(self):
        chunk = max(self.messages // 15, PARTITIONS)
        while self.produced() < self.messages or self.counts["broker"] < 1 or self.counts["search"] < 1 or self.counts["pipe"] < 2:
            if self.produced() < self.messages:
                self.produce(min(chunk, self.messages - self.produced()))
            self.act(self.random.choice(["pipe", "pipe", "broker", "search", "join", "join", "leave"]))
            time.sleep(self.random.uniform(0, 2))

    def produced(self):
        return sum(map(len, self.expected))

    def act(self, action):
        live = self.live()
        if action in ("pipe", "leave") and not live or action == "join" and len(live) >= MEMBERS_MAX:
            return
        if action == "search" and self.restart and self.restart.is_alive():
            return
        self.counts[action] += 1
        if action == "join":
            self.join()
        elif action == "leave":
            code = self.random.choice(live).stop(60)
            if code != 0:
                raise AssertionError(f"a member that was told to leave ended with {code}")
        elif action == "pipe":
            self.random.choice(live).kill()
            self.join()
        elif action == "broker":
            self.restart_broker(self.random.randint(1, self.kafka.nodes))
        else:
            self.search.kill()
            self.restart = threading.Thread(target=self.search.start)
            self.restart.start()

    def restart_broker(self, node):
        self.kafka.kill(node)
        time.sleep(self.random.uniform(0, 2))
        self.kafka.start_node(node)

    # --- Seeing ---

    def settle(self):
        if self.restart:
            self.restart.join()
        if not self.live():
            self.join()
        wait_for(lambda: f"everything to be committed: {self.kafka.committed(self.name, self.name)} of "
                 f"{self.kafka.watermarks(self.name)}", lambda: self.live() and is_settled(self.kafka, self.name, self.name), SETTLE_S, 0.5)
        for member in self.live():
            code = member.stop(90)
            if code != 0:
                raise AssertionError(f"a member ended with {code}")

    def check(self):
        due = {f"{self.name}-{partition}-{offset}": what for partition, values in enumerate(self.expected)
               for offset, what in enumerate(values)}
        found, times = {}, 0
        for identity, what in self.records():
            self.same(identity, found.setdefault(identity, what), what)
        records = len(found)
        for identity, number in self.documents():
            times += 1
            if identity in found:
                raise AssertionError(f"{identity} is found twice, as {found[identity]} and {number}")
            found[identity] = number
        wrong = sorted(identity for identity in due.keys() | found.keys() if due.get(identity) != found.get(identity))
        if wrong:
            raise AssertionError(f"{len(wrong)} messages are not what they should be: " + ", ".join(
                f"{identity} is {found.get(identity)}, not {due.get(identity)}" for identity in wrong[:10]))
        count = self.search.count(f"{self.name}-*")
        if count != times:
            raise AssertionError(f"{count} documents are counted, {times} were found")
        return times, records

    @staticmethod
    def same(identity, first, second):
        if first != second:
            raise AssertionError(f"{identity} has two records, with {first} and {second}")

    def records(self):
        for message in self.kafka.consume(self.errors):
            code = next(value for name, value in message["headers"] if name == "pawl.code")
            yield message["key"].decode().replace("/", "-"), code.decode()

    def documents(self):
        self.search.json("POST", f"/{self.name}-*/_flush")
        self.search.json("POST", f"/{self.name}-*/_refresh")
        page = self.search.json("POST", f"/{self.name}-*/_search?scroll=2m", {"size": 10000, "_source": ["n"], "sort": ["_doc"]})
        while page["hits"]["hits"]:
            for hit in page["hits"]["hits"]:
                yield hit["_id"], hit["_source"]["n"]
            page = self.search.json("POST", "/_search/scroll", {"scroll": "2m", "scroll_id": page["_scroll_id"]})
        self.search.ask("DELETE", "/_search/scroll", {"scroll_id": page["_scroll_id"]})

    def failures(self, code):
        return sum(len(member.events("failed", code=code)) for member in self.members)

    def tell(self):
        print(f"the logs are in {self.directory}", flush=True)
        for member in self.members[-3:]:
            print(f"--- {member.log.name}, which {'runs' if member.runs() else 'ended'}:\n{member.said()[-3000:]}", flush=True)

    def forget(self):
        self.kafka.tool("delete", self.name)
        self.kafka.tool("delete", self.errors)
        self.search.json("DELETE", f"/{self.name}-k")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pawl")
    parser.add_argument("topic_tool")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--messages", type=int, default=200000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--at-least", type=int, default=1, help="fewer rounds are a failure")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--engine", default="os2", help="os2: OpenSearch 2, es8: Elasticsearch 8")
    given = parser.parse_args()
    rounds = given.rounds or (1 if given.minutes is None else 10**9)
    messages = given.messages // PARTITIONS * PARTITIONS
    print(f"seed {given.seed}", flush=True)
    began = time.monotonic()
    done, longest, busy = 0, 0, 0
    settings = {"thread_pool.write.size": 1, "thread_pool.write.queue_size": 1}
    with Kafka(given.topic_tool, nodes=given.brokers) as kafka, Search(given.engine, settings) as search:
        while done < rounds:
            left = None if given.minutes is None else given.minutes * 60 - (time.monotonic() - began)
            if left is not None and (left < 0 or done >= given.at_least and left < longest):
                break
            start = time.monotonic()
            one = Round((kafka, search, given.pawl), done + 1, given.seed, messages)
            said, refused = one.run()
            busy += refused
            print(f"round {done + 1}: {said}", flush=True)
            one.forget()
            longest = max(longest, time.monotonic() - start)
            done += 1
    print(f"{done} rounds of {messages} messages with {given.brokers} brokers and {given.engine}, seed {given.seed}")
    if busy == 0:
        print("no document was refused because the search node was busy: that is not tested")
    return 0 if done >= given.at_least and busy > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
