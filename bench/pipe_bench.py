#!/usr/bin/env python3
"""The pipe beside a bare loop and rsyslog, in alternating rounds: pipe_bench.py PAWL TOPIC_TOOL REFERENCE

A real broker, a sink that takes everything and counts. REFERENCE is the folder with the bare loop that consumes, validates and sends
(pipe_loop.cpp), the sink (null_sink.cpp), the events (gen_events.py) and rsyslog.conf.in; the programs are compiled from there with the
flags of the `release` preset. Each round reads all messages once with a group of its own: the pipe, the loop, the pipe, …; then rsyslog
in as many rounds as --rsyslog says. CPU is that of the whole process, from its start to its end.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "components"))
from nodes import Kafka  # noqa: E402
from store_rounds import ROUNDS, line, release_flags  # noqa: E402

LOOP, RSYSLOG, MEMORY_MIB = 1.6, 0.25, 200  # CPU at most so much of the loop's, of rsyslog's; resident
PATIENCE_S, QUIET_S = 300, 1

PIPE = """pipe: bench
kafka: {{brokers: "{brokers}", group: "{group}", topics: [{topic}]}}
transform: {{require: [eventName, timestamp], index: "ev-{{time:%Y-%m-%d}}", time: {{field: timestamp, format: millis}}, id: offset}}
elasticsearch: {{url: "http://127.0.0.1:{port}"}}
"""


def compiled(reference, name, folder, libraries):
    program = folder / name
    subprocess.run(["g++", "-std=c++20", *release_flags(), str(reference / f"{name}.cpp"), "-o", str(program), *libraries, "-lpthread"], check=True)
    return str(program)


class Sink:
    def __init__(self, program, port):
        self.port = port
        self.process = subprocess.Popen([program, str(port)])
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.count()
                return
            time.sleep(0.05)
        raise RuntimeError("the sink does not answer")

    def count(self):
        """Documents since it was asked last, but for those that came while it was asked."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/count", timeout=10) as answer:
            return json.load(answer)

    def wait_for(self, documents, what):
        """Until most have come and no more do; how long that took."""
        began = last = time.monotonic()
        got = 0
        while got < documents * 0.95 or time.monotonic() < last + QUIET_S:
            if time.monotonic() > began + PATIENCE_S:
                raise RuntimeError(f"{what}: {got} of {documents} documents after {PATIENCE_S} s")
            time.sleep(0.1)
            come = self.count()["docs"]
            got += come
            if come:
                last = time.monotonic()
        return last - began

    def close(self):
        self.process.kill()
        self.process.wait()


def peak_mib(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


def ended(process):
    """CPU seconds of a process that is told to end."""
    process.send_signal(signal.SIGTERM)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_utime + used.ru_stime


class Bench:
    def __init__(self, given, folder, kafka, sink, loop):
        self.given, self.folder, self.kafka, self.sink, self.loop = given, folder, kafka, sink, loop
        self.groups = 0

    def group(self):
        self.groups += 1
        return f"bench-{self.groups}"

    def served(self, command, environment=None):
        """A program that goes on until it is told to end: CPU and wall time a message, memory."""
        self.sink.count()
        with open(self.folder / "program.log", "wb") as log:
            process = subprocess.Popen(command, env=dict(os.environ, **(environment or {})), stdout=log, stderr=log)
        wall = self.sink.wait_for(self.given.messages, command[0])
        memory = peak_mib(process)
        cpu = ended(process)
        return {"cpu_ns": cpu * 1e9 / self.given.messages, "wall_per_s": self.given.messages / wall, "memory_mib": memory}

    def pipe(self, topic):
        file, group = self.folder / "pipe.yaml", self.group()
        file.write_text(PIPE.format(brokers=self.kafka.brokers, group=group, topic=topic, port=self.sink.port))
        run = self.served([self.given.pawl, "pipe", str(file)])
        committed = sum(offset or 0 for offset in self.kafka.committed(group, topic).values())
        if committed != self.given.messages:
            raise RuntimeError(f"the pipe committed {committed} of {self.given.messages} messages")
        return run

    def bare_loop(self, topic):
        self.sink.count()
        began = time.monotonic()
        process = subprocess.Popen([self.loop, "consume", self.kafka.brokers, topic, str(self.given.messages), self.group(), "pipe"],
                                   env=dict(os.environ, ES_URL=f"http://127.0.0.1:{self.sink.port}/_bulk"), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        wall = time.monotonic() - began
        taken = self.sink.count()["docs"]
        if taken < self.given.messages:
            raise RuntimeError(f"the loop sent {taken} of {self.given.messages} messages")
        return {"cpu_ns": (used.ru_utime + used.ru_stime) * 1e9 / self.given.messages, "wall_per_s": self.given.messages / wall,
                "memory_mib": used.ru_maxrss / 1024}

    def rsyslog(self, topic):
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            text = (pathlib.Path(self.given.reference) / "rsyslog.conf.in").read_text()
            for name, value in {"DIR": work, "KAFKA": self.kafka.brokers, "TOPIC": topic, "GROUP": self.group(),
                                "PORT": str(self.sink.port)}.items():
                text = text.replace(f"@{name}@", value)
            conf = pathlib.Path(work) / "rsyslog.conf"
            conf.write_text(text)
            return self.served(["rsyslogd", "-n", "-f", str(conf), "-i", f"{work}/pid"])


def show(name, runs):
    print(f"  {name:<8} {line('CPU', [run['cpu_ns'] for run in runs], 'ns')} a message;"
          f" {line('wall', [run['wall_per_s'] for run in runs], 'messages a second')};"
          f" {line('memory', [run['memory_mib'] for run in runs], 'MiB')}", flush=True)


def compare(bench, size, topic):
    given = bench.given
    ours, loop, rsyslog = [], [], []
    for _ in range(given.rounds):
        ours.append(bench.pipe(topic))
        loop.append(bench.bare_loop(topic))
    for _ in range(given.rsyslog):
        rsyslog.append(bench.rsyslog(topic))
        ours.append(bench.pipe(topic))
    print(f"events of {size} B, {given.messages} a round, {given.rounds} rounds:")
    show("pawl", ours)
    show("loop", loop)
    ratios = [a["cpu_ns"] / b["cpu_ns"] for a, b in zip(ours, loop)]
    print(f"  CPU of the loop's:   {line('', ratios, '')} (goal at most {LOOP})")
    if rsyslog:
        show("rsyslog", rsyslog)
        ratios = [a["cpu_ns"] / b["cpu_ns"] for a, b in zip(ours[given.rounds:], rsyslog)]
        print(f"  CPU of rsyslog's:    {line('', ratios, '')} (goal at most {RSYSLOG})")
    print(f"  memory at most       {max(run['memory_mib'] for run in ours):.0f} MiB (goal under {MEMORY_MIB})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pawl")
    parser.add_argument("topic_tool")
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--rsyslog", type=int, default=ROUNDS, help="rounds with rsyslog; 0: none")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1048])
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--port", type=int, default=19200, help="of the sink")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Kafka(given.topic_tool) as kafka:
        folder = pathlib.Path(name)
        loop = compiled(given.reference, "pipe_loop", folder, ["-lrdkafka", "-lsimdjson", "-lcurl"])
        sink = Sink(compiled(given.reference, "null_sink", folder, []), given.port)
        try:
            bench = Bench(given, folder, kafka, sink, loop)
            for size in given.sizes:
                topic = f"events{size}"
                events = folder / f"{topic}.txt"
                with open(events, "wb") as out:
                    subprocess.run([sys.executable, str(given.reference / "gen_events.py"), str(size), "20000"], stdout=out, check=True)
                kafka.create(topic, given.partitions)
                subprocess.run([loop, "produce", kafka.brokers, topic, str(given.partitions), str(given.messages), str(events)],
                               check=True, stderr=subprocess.DEVNULL)
                compare(bench, size, topic)
        finally:
            sink.close()


if __name__ == "__main__":
    main()
