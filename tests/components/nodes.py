"""The real Kafka and the real search node as a test starts them: each in a directory of its own, at ports of its own."""

import base64
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile

from http_node import HttpNode

HERE = pathlib.Path(__file__).resolve().parent


class Node:
    """What is started by a script; ends, with its files, at the end of a `with`."""

    SCRIPT = None

    def __init__(self, environment=None):
        self.environment = dict(os.environ, **(environment or {}))
        self.directory = tempfile.mkdtemp(prefix="pawl-node-")
        os.chmod(self.directory, 0o755)  # root runs the search node as nobody
        # A test that is killed leaves no node behind.
        self.watch = subprocess.Popen(["sh", "-c", 'tail --pid="$1" -f /dev/null; "$2" kill "$3"; rm -rf "$3"', "watch",
                                       str(os.getpid()), HERE / self.SCRIPT, self.directory], env=self.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True)

    def run(self, command, *words):
        """What the script prints."""
        done = subprocess.run([HERE / self.SCRIPT, command, self.directory, *map(str, words)], env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"{self.SCRIPT} {command} ended with {done.returncode}")
        return done.stdout.strip()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        os.killpg(self.watch.pid, signal.SIGKILL)
        self.watch.wait()
        self.run("kill")
        shutil.rmtree(self.directory, ignore_errors=True)

    def stop(self, *words):
        self.run("stop", *words)

    def kill(self, *words):
        self.run("kill", *words)

    def pause(self, *words):
        self.run("pause", *words)

    def resume(self, *words):
        self.run("resume", *words)


class Kafka(Node):
    """A cluster; kill, stop, pause and resume take a node's number, or none for all."""

    SCRIPT = "kafka.sh"

    def __init__(self, topic_tool, nodes=1, properties=""):
        super().__init__({"KAFKA_PROPS": properties})
        self.topic_tool = topic_tool
        self.nodes = nodes
        self.brokers = None

    def start(self):
        """Returns when all nodes are ready. After a kill: at the ports that they had, with the data that they had."""
        self.brokers = self.run("start", "auto", self.nodes)

    def start_node(self, node):
        self.run("start-node", node)

    def tool(self, command, *words, stdin=b""):
        """What topic_tool prints; subprocess.CalledProcessError when it fails."""
        return subprocess.run([self.topic_tool, command, self.brokers, *map(str, words)], input=stdin, check=True,
                              stdout=subprocess.PIPE).stdout

    def create(self, topic, partitions=1, **settings):
        """Settings with _ for the dot: max_message_bytes=1000."""
        self.tool("create", topic, partitions, *(f"{key.replace('_', '.')}={value}" for key, value in settings.items()))

    def produce(self, topic, messages, *options):
        """Messages are values or (key, value); each of them bytes, str or None."""
        frames = bytearray()
        for message in messages:
            pair = message if isinstance(message, tuple) else (None, message)
            parts = [part.encode() if isinstance(part, str) else part for part in pair]
            frames += struct.pack(">ii", *(-1 if part is None else len(part) for part in parts))
            for part in parts:
                frames += part or b""
        return int(self.tool("produce", topic, "--framed", *options, stdin=bytes(frames)))

    def consume(self, topic):
        """Every message, with its key, value and headers as bytes."""
        messages = self.lines("consume", topic, "--json")
        for message in messages:
            message["key"], message["value"] = decoded(message["key"]), decoded(message["value"])
            message["headers"] = [(name, decoded(value)) for name, value in message["headers"]]
        return messages

    def committed(self, group, topic):
        """By partition; None where nothing is committed."""
        return {line["partition"]: line["offset"] for line in self.lines("committed", group, topic)}

    def watermarks(self, topic):
        """(low, high) by partition."""
        return {line["partition"]: (line["low"], line["high"]) for line in self.lines("watermarks", topic)}

    def lines(self, *words):
        return [json.loads(line) for line in self.tool(*words).splitlines()]


def decoded(text):
    return None if text is None else base64.b64decode(text)


class Search(Node, HttpNode):
    """OpenSearch (`os2`), or Elasticsearch (`es8`). Settings are those of the node: {"thread_pool.write.size": 1}."""

    SCRIPT = "search.sh"

    def __init__(self, engine="os2", settings=None):
        Node.__init__(self, {"SEARCH_ENGINE": engine})
        HttpNode.__init__(self, None)
        self.settings = settings or {}

    def start(self):
        """Returns when it is ready. After a kill: at the port that it had, with the data that it had."""
        self.port = int(self.run("start", "auto", *(f"{key}={value}" for key, value in self.settings.items())))

    def count(self, index):
        self.json("POST", f"/{index}/_refresh")
        return self.json("GET", f"/{index}/_count")["count"]
