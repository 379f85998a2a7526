"""Runs a pipe between a real Kafka and a real OpenSearch, kills each of the three, and compares the books of the two servers.

Usage: pipe_demo.py BUILD_DIRECTORY [--events N]
"""

import argparse
import collections
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "components"))

from nodes import Kafka, Search  # noqa: E402

PARTITIONS = 4
POISON_EVERY = 50
PATIENCE_S = 240

FILE = """pipe: demo
kafka: {{brokers: "{brokers}", group: demo, topics: [events], instance: demo-1, commit_every: 100ms}}
transform:
  require: {{name: string, kind: string, timestamp: int}}
  index: "{{data.kind}}-{{timestamp:%Y.%m}}"
  tombstone: error
  document_bytes: 64KiB
opensearch: {{url: "http://127.0.0.1:{port}", bulks: 2}}
batch: {{messages: 100, in_flight: 2}}
"""


def event(number, **other):
    return json.dumps({"name": "opened", "kind": "clicks" if number % 3 else "views", "number": number, "age": number % 90,
                       "timestamp": 1767225600000 + number * 60000, "text": "x" * 200} | other)


# What is wrong with a message, and the code that it has to be found under.
POISON = [
    ("not JSON", "7 invalid_format", lambda n: '{"name": "opened", '),
    ("not UTF-8", "7 invalid_format", lambda n: b'{"name": "\xc3\x28"}'),
    ("empty", "7 invalid_format", lambda n: ""),
    ("not a map", "8 invalid_event", lambda n: f"[{n}]"),
    ("a missing field", "8 invalid_event", lambda n: event(n, name=None)),
    ("a field of the wrong type", "8 invalid_event", lambda n: event(n, timestamp="yesterday")),
    ("no value", "8 invalid_event", lambda n: None),
    ("an invalid index name", "9 transformation_error", lambda n: event(n, kind="Not An Index")),
    ("too large", "4 message_too_big", lambda n: event(n, text="x" * 100000)),
    ("does not fit the mapping", "12 bulk_item", lambda n: event(n, age="old")),
]


class Demo:
    def __init__(self, pawl, kafka, search, folder):
        self.pawl, self.kafka, self.search, self.folder = pawl, kafka, search, folder
        self.expected = collections.Counter()
        self.produced = 0
        self.pipe = None
        self.log = (folder / "pipe.log").open("w")
        self.file = folder / "demo.yaml"
        self.file.write_text(FILE.format(brokers=kafka.brokers, port=search.port), encoding="utf-8")

    def produce(self, count):
        """With poison among them, each kind in turn."""
        messages = []
        for number in range(self.produced, self.produced + count):
            if number % POISON_EVERY == 0:
                _, code, make = POISON[number // POISON_EVERY % len(POISON)]
                self.expected[code] += 1
                messages.append((f"k{number}", make(number)))
            else:
                messages.append((f"k{number}", event(number)))
        sent = self.kafka.produce("events", messages)
        assert sent == count, f"Kafka accepted {sent} of {count}"
        self.produced += count
        say(f"sent {count} events to Kafka, {self.produced} in total")

    def start_pipe(self):
        self.pipe = subprocess.Popen([self.pawl, "pipe", self.file], stdin=subprocess.DEVNULL, stderr=self.log)

    def kill_pipe(self):
        self.pipe.kill()
        self.pipe.wait()

    def committed(self):
        try:
            return sum(offset or 0 for offset in self.kafka.committed("demo", "events").values())
        except subprocess.CalledProcessError:
            return -1

    def wait_for(self, committed):
        end = time.monotonic() + PATIENCE_S
        while self.committed() < committed:
            assert self.pipe.poll() is None, "the pipe has exited"
            assert time.monotonic() < end, f"only {self.committed()} of {committed} committed after {PATIENCE_S} s"
            time.sleep(0.05)

    def errors(self):
        """The code by TOPIC/PARTITION/OFFSET, as the topic itself has it."""
        codes = {}
        for message in self.kafka.consume("_errors"):
            headers = {name: (value or b"").decode() for name, value in message["headers"]}
            codes[message["key"].decode()] = f"{headers['pawl.code']} {headers['pawl.error']}"
        return codes

    def documents(self):
        """Their ids, as TOPIC/PARTITION/OFFSET, as the search engine has them."""
        self.search.json("POST", "/_refresh")
        ids = []
        page = self.search.json("POST", "/clicks-*,views-*/_search?scroll=1m", {"size": 5000, "_source": False})
        while page["hits"]["hits"]:
            ids += [hit["_id"].replace("-", "/") for hit in page["hits"]["hits"]]
            page = self.search.json("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": page["_scroll_id"]})
        return ids

    def close(self):
        if self.pipe is not None and self.pipe.poll() is None:
            self.kill_pipe()
        self.log.close()


def say(text):
    print(f"[{time.monotonic() - BEGAN:5.1f} s] {text}")


def show(*command):
    print("\n$ " + " ".join(["pawl", *map(str, command[1:])]))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, f"exit code {done.returncode}"
    print()


def run(demo, events):
    share = events // 4
    demo.produce(share)
    show(demo.pawl, "pipe", "check", demo.file)

    say("starting the pipe")
    demo.start_pipe()
    demo.wait_for(share // 4)
    demo.kill_pipe()
    say(f"killed the pipe with kill -9; {demo.committed()} committed")
    demo.produce(share)

    demo.start_pipe()
    demo.wait_for(share * 5 // 4)
    demo.search.kill()
    say("the pipe is running again; killed OpenSearch with kill -9")
    demo.produce(share)
    demo.search.start()
    say("OpenSearch is running again")
    demo.wait_for(share * 9 // 4)

    demo.kafka.kill()
    say("killed Kafka with kill -9")
    demo.kafka.start()
    say("Kafka is running again")
    demo.produce(events - 3 * share)
    demo.wait_for(events)
    demo.pipe.send_signal(signal.SIGTERM)
    assert demo.pipe.wait(timeout=60) == 0, "the pipe did not shut down cleanly"
    say("everything is committed; stopped the pipe")
    show(demo.pawl, "pipe", "errors", "count", demo.file, "--by", "code")


def balance(demo):
    """Whether what is in the two servers is exactly what was put into the first."""
    input_keys = {f"events/{partition}/{offset}" for partition, (low, high) in demo.kafka.watermarks("events").items()
                  for offset in range(low, high)}
    errors = demo.errors()
    documents = demo.documents()
    found = collections.Counter(errors.values())

    print("The books, according to Kafka and OpenSearch:\n")
    print(f"  {'':34}{'expected':>9}{'found':>9}")
    wrong = []
    rows = [("documents", demo.produced - sum(demo.expected.values()), len(documents))]
    rows += [(f"errors, {code}", demo.expected[code], found[code])
             for code in sorted(demo.expected | found, key=lambda code: int(code.split()[0]))]
    rows.append(("documents + errors = input", demo.produced, len(documents) + len(errors)))
    for name, expected, there in rows:
        print(f"  {name:34}{expected:>9}{there:>9}{'' if expected == there else '   WRONG'}")
        if expected != there:
            wrong.append(name)
    for name, keys in (("lost", input_keys - errors.keys() - set(documents)),
                       ("both a document and an error", errors.keys() & set(documents)),
                       ("indexed twice", {key for key, count in collections.Counter(documents).items() if count > 1}),
                       ("not in the input", (errors.keys() | set(documents)) - input_keys)):
        print(f"  {name:34}{0:>9}{len(keys):>9}{'   WRONG' if keys else ''}")
        if keys:
            wrong.append(name)
            print(f"    {', '.join(sorted(keys)[:5])}")
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("built", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=20000)
    arguments = parser.parse_args()
    pawl = arguments.built.resolve() / "pawl"
    topic_tool = arguments.built.resolve() / "tests" / "components" / "topic_tool"
    print(f"{arguments.events} events, one in {POISON_EVERY} is bad: " + ", ".join(name for name, _, _ in POISON))
    say("starting a real Kafka and a real OpenSearch in a temporary directory")
    with Kafka(topic_tool) as kafka, Search() as search, tempfile.TemporaryDirectory() as folder:
        kafka.create("events", PARTITIONS)
        kafka.create("_errors", 1, max_message_bytes=2000000)
        search.json("PUT", "/_index_template/demo", {
            "index_patterns": ["clicks-*", "views-*"],
            "template": {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"age": {"type": "integer"}}}}})
        demo = Demo(pawl, kafka, search, pathlib.Path(folder))
        try:
            run(demo, arguments.events)
            is_balanced = balance(demo)
        except (AssertionError, subprocess.SubprocessError) as wrong:
            is_balanced = False
            print(f"\npipe_demo: {wrong}\nThe last lines of the pipe's log:")
            demo.log.flush()
            print("".join((demo.folder / "pipe.log").read_text(encoding="utf-8").splitlines(True)[-20:]))
        finally:
            demo.close()
    print(f"\n{'The books balance: nothing was lost.' if is_balanced else 'The books do not balance.'}")
    return 0 if is_balanced else 1


if __name__ == "__main__":
    BEGAN = time.monotonic()
    sys.exit(main())
