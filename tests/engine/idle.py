#!/usr/bin/env python3
"""Idle means no queries and no CPU: idle.py IDLE_RUNNER

Starts a runner with nothing to do under strace, waits until it is quiet, and watches it for PAWL_IDLE_SECONDS (5). In that
time no thread of it may begin or end a system call: each is asleep in one that began before. So nothing is read or
written, /proc/PID/io and the processor time stay as they are, and no thread is switched to.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

QUIET_FOR = 0.5  # seconds, before it is watched
QUIET_WITHIN = 20


def used(process):
    """What the process has used so far: bytes and calls of input and output, processor time, and switches to its threads."""
    folder = pathlib.Path("/proc") / process
    counts = {}
    for line in (folder / "io").read_text().splitlines():
        name, value = line.split(": ")
        counts[name] = int(value)
    stat = (folder / "stat").read_text().rpartition(")")[2].split()
    counts["processor time, user"], counts["processor time, system"] = int(stat[11]), int(stat[12])
    for thread in (folder / "task").iterdir():
        for line in (thread / "status").read_text().splitlines():
            if "ctxt_switches" in line:
                name, value = line.split(":")
                counts[name] = counts.get(name, 0) + int(value)
    return counts


def wait_until_quiet(process):
    until = time.monotonic() + QUIET_WITHIN
    before = used(process)
    while time.monotonic() < until:
        time.sleep(QUIET_FOR)
        now = used(process)
        if now == before:
            return
        before = now
    print("it does something all the time; watched nevertheless")


def system_calls(trace, begin, end):
    """The calls that began or ended in that time, and how many."""
    counts = collections.Counter()
    for line in trace.splitlines():
        match = re.match(r"\d+ +(\d+\.\d+) (?:<\.\.\. )?(\w+)", line)
        if match and begin <= float(match[1]) <= end:
            counts[match[2]] += 1
    return counts


def main():
    seconds = float(os.environ.get("PAWL_IDLE_SECONDS", "5"))
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace"
        strace = subprocess.Popen(
            ["strace", "-f", "-ttt", "-s", "0", "-o", trace, sys.argv[1], pathlib.Path(directory) / "store"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if strace.stdout.readline() != "ready\n":
            sys.exit("the runner did not start under strace")
        process = trace.read_text().split()[0]
        wait_until_quiet(process)
        begin, before = time.time(), used(process)
        time.sleep(seconds)
        after, end = used(process), time.time()
        threads = len(list((pathlib.Path("/proc") / process / "task").iterdir()))
        strace.communicate(".")
        calls = system_calls(trace.read_text(), begin, end)

    wrong = [f"{name}: {before[name]} before, {after[name]} after" for name in before if before[name] != after[name]]
    wrong += [f"system call {name}: {count} times begun or ended" for name, count in calls.items()]
    for line in wrong:
        print(line)
    print(f"{threads} threads, {seconds:g} seconds: {sum(calls.values())} system calls, "
          f"{after['read_bytes'] - before['read_bytes']} bytes read, {after['write_bytes'] - before['write_bytes']} written")
    sys.exit(1 if wrong else 0)


main()
