#!/usr/bin/env python3
"""The server over HTTP, beside the engine alone, in alternating rounds: http_bench.py PAWL HTTP_LOAD

PAWL is the program and HTTP_LOAD what makes the load (bench/http_load.cc). Beside sleeping records none: `pawl bench` with 256
callers, then jobs over HTTP a hundred at a time and one at a time. Then how long a job takes to a worker that waits, and what ten
thousand workers cost that wait.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from store_rounds import ROUNDS, figures, line

MACHINE = """machine: job
initial: ready
states:
  ready: {task: work, done: finished}
  finished: {final: true}
tasks:
  work: {queue: jobs, timeout: 10m}
"""
CALLED = MACHINE.replace("machine: job\ninitial: ready\nstates:\n", "machine: called\ninitial: new\nstates:\n  new: {on: {go: ready}}\n")
BATCHED, SINGLE = 0.4, 0.1  # of the jobs of the engine alone


class Server:
    def __init__(self, pawl, folder):
        command = [pawl, "serve", "--dir", str(pathlib.Path(folder) / "data"), "--listen", "127.0.0.1:0", "--rate-per-token", "0"]
        for name, text in (("job", MACHINE), ("called", CALLED)):
            machine = pathlib.Path(folder) / (name + ".yaml")
            machine.write_text(text)
            command += ["--apply", str(machine)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = self.process.stdout.readline().rsplit(":", 1)[1].strip()
        self.token = self.process.stdout.readline().split()[-1]

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mb(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 10**6

    def close(self):
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def served(pawl):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(pawl, folder)
        try:
            yield server
        finally:
            server.close()


def measure_jobs(given, mode, connections):
    with served(given.pawl) as server:
        before = server.cpu_seconds()
        run = figures([given.load, mode, server.port, server.token, str(connections), str(given.seconds)])
        run["server_cpu_us"] = (server.cpu_seconds() - before) * 1e6 / max(run["jobs"], 1)
        return run


def compare(given):
    engine, runs = [], {"batched": [], "single": []}
    for _ in range(given.rounds):
        engine.append(figures([given.pawl, "bench", "--json", "--callers", "256", "--sleeping", "0", "--seconds", str(given.seconds)]))
        runs["batched"].append(measure_jobs(given, "batched", 8))
        runs["single"].append(measure_jobs(given, "single", 64))
    print(f"jobs, {given.rounds} rounds of {given.seconds:g} s:")
    print(f"  engine alone, 256 callers   {line('done', [run['jobs_per_s'] for run in engine], 'a second')};"
          f" {line('CPU', [3 * run['cpu_us'] for run in engine], 'us')} a job")
    is_met = True
    for mode, goal, how in (("batched", BATCHED, "100 a call, 8 connections"), ("single", SINGLE, "1 a call, 64 connections")):
        ratios = [run["jobs_per_s"] / alone["jobs_per_s"] for run, alone in zip(runs[mode], engine)]
        costs = [run["server_cpu_us"] / (3 * alone["cpu_us"]) for run, alone in zip(runs[mode], engine)]
        met = statistics.median(ratios) >= goal
        is_met &= met
        print(f"  {how:27} {line('done', [run['jobs_per_s'] for run in runs[mode]], 'a second')};"
              f" {line('server CPU', [run['server_cpu_us'] for run in runs[mode]], 'us')} a job,"
              f" {line('generator', [run['generator_cpu_us'] for run in runs[mode]], 'us')}")
        print(f"    of the engine alone: {line('jobs', ratios, '')}, {line('CPU', costs, '')};"
              f" goal: jobs at least {goal}: {'met' if met else 'MISSED'}")
    return is_met


def measure_commit(given):
    """How long one commit takes here, in ms."""
    alone = figures([given.pawl, "bench", "--json", "--callers", "1", "--sleeping", "0", "--seconds", str(given.seconds)])
    return alone["answer_ms"]["p50"]


def measure_latency(given):
    """In turn with what one commit takes, which changes from minute to minute."""
    commits, medians, worst = [], [], []
    for _ in range(given.rounds):
        commits.append(measure_commit(given))
        with served(given.pawl) as server:  # a new one: the last worker of a round leaves a claim behind
            run = figures([given.load, "latency", server.port, server.token, "200"])
        medians.append(run["from_ask_ms"]["p50"])
        worst.append(run["from_ask_ms"]["p99"])
    over = [median - commit for median, commit in zip(medians, commits)]
    met = statistics.median(medians) <= statistics.median(commits) + 1
    print(f"idle, from a fire to a waiting worker, {given.rounds} rounds of {run['tries']} tries: {line('median', medians, 'ms')},"
          f" {line('p99', worst, 'ms')}; {line('one commit', commits, 'ms')};"
          f" {line('more than that, round by round', over, 'ms')};"
          f" goal: at most one commit and 1 ms: {'met' if met else 'MISSED'}")
    return met


def measure_pollers(given):
    commit = measure_commit(given)
    with served(given.pawl) as server:
        # It is idle for longer than it is looked at, so that nothing of the beginning or the end is in the figure.
        command = [given.load, "pollers", server.port, server.token, str(given.pollers), str(given.idle + 2)]
        load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        waiting = json.loads(load.stdout.readline())["waiting"]
        before, begin = server.cpu_seconds(), time.monotonic()
        time.sleep(given.idle)
        used = (server.cpu_seconds() - before) / (time.monotonic() - begin) * 100
        memory = server.resident_mb()
        run = json.loads(load.stdout.readline())
        load.wait()
    seen, after = run["from_ask_ms"], run["from_answer_ms"]
    met = memory < 300 and used < 1 and seen["p50"] <= commit + 5
    print(f"{waiting} workers wait for {given.idle:g} s: {memory:.0f} MB, {used:.2f} % CPU; then one is answered {seen['p50']:.2f} ms"
          f" (p99 {seen['p99']:.2f}) after the fire, {after['p50']:.2f} ms (p99 {after['p99']:.2f}) after the answer to whoever fired,"
          f" {run['tries']} tries; one commit is {commit:.2f} ms; goal: under 300 MB, 1 %, one commit and 5 ms: {'met' if met else 'MISSED'}")
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pawl")
    parser.add_argument("load")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--pollers", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=30)
    given = parser.parse_args()
    results = [compare(given), measure_latency(given), measure_pollers(given)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
