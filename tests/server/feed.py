#!/usr/bin/env python3
"""A client of the live feed that is cut off at any byte and comes back: feed.py PAWL [--times 100] [--seed N]

While records are created, moved and settled it reads, is cut off after a random number of bytes, and comes back with the
id of the last event that it has in full, as a header or as `from`. It has to see each entry once, in the order of each
record, and all that their logs have.
"""

import argparse
import json
import random
import sys
import threading
import time

from pawl_server import Server, quoted


def move_records(server, name, ends, failures):
    on = server.connect()
    count = 0
    while not ends.is_set():
        count += 1
        key = quoted(f"{name}/{count}")
        for path, body in ((f"/v1/records/parcel/{key}", {}),
                           (f"/v1/records/parcel/{key}/fire", {"event": "add", "idempotency_key": "once"})):
            status, answer = server.ask("POST", path, body, on)
            if status not in (200, 409):  # refused: the other one has packed it already
                failures.append(f"{path}: {status} {answer}")
        status, given = server.ask("POST", "/v1/claim", {"queues": ["packers"], "max": 5}, on)
        for attempt in given.get("attempts", []):
            settle = {name: attempt[name] for name in ("machine", "key", "token")}
            status, answer = server.ask("POST", "/v1/done", settle, on)
            if status != 200:
                failures.append(f"done: {status} {answer}")
    on.close()


class Listener:
    def __init__(self, server):
        self.server = server
        self.last = ""  # the id of the last event
        self.entries = []

    def listen(self, by_header, cut_after=None, until=None):
        """Reads events until so many bytes have come, or until it holds."""
        more, path = "", "/v1/feed/live"
        if self.last and by_header:
            more = f"Last-Event-ID: {self.last}\r\n"
        elif self.last:
            path += "?from=" + quoted(self.last)
        made = self.server.connect()
        made.sendall(self.server.request("GET", path, None, more))
        got, seen, in_body = b"", 0, False
        while (cut_after is None or seen < cut_after) and not (until and until()):
            some = made.recv(4096 if cut_after is None else min(4096, cut_after - seen))
            if not some:
                raise SystemExit("feed: the server has ended the feed")
            seen += len(some)
            got += some
            if not in_body and b"\r\n\r\n" in got:
                head, got = got.split(b"\r\n\r\n", 1)
                if b" 200 " not in head.split(b"\r\n")[0]:
                    raise SystemExit(f"feed: {head}")
                in_body = True
            while in_body and b"\n\n" in got:
                event, got = got.split(b"\n\n", 1)
                self.take(event.decode())
        made.close()

    def take(self, event):
        fields = dict(line.split(": ", 1) for line in event.split("\n") if not line.startswith(":"))
        if fields:
            self.entries += json.loads(fields["data"])
            self.last = fields["id"]


def log_of(server, key, on):
    status, page = server.ask("GET", f"/v1/records/parcel/{quoted(key)}/log?max=1000", None, on)
    return [entry["seq"] for entry in page["items"]]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--times", type=int, default=100)
    words.add_argument("--seed", type=int, default=int(time.time()))
    options = words.parse_args()
    print(f"seed {options.seed}", flush=True)
    draw = random.Random(options.seed)
    server = Server(options.program)
    ends, failures = threading.Event(), []
    movers = [threading.Thread(target=move_records, args=(server, f"m{i}", ends, failures)) for i in range(2)]
    for mover in movers:
        mover.start()
    listener = Listener(server)
    within = 0
    for _ in range(options.times):
        before = len(listener.entries)
        listener.listen(draw.random() < 0.5, cut_after=draw.choice((0, 1, 200, 400, 3000, 20000, 60000)) + draw.randrange(400))
        within += len(listener.entries) > before
    ends.set()
    for mover in movers:
        mover.join()

    # All that there is by now, from the pages of the feed.
    on = server.connect()
    expected, place = 0, ""
    while True:
        status, page = server.ask("GET", f"/v1/feed?max=1000&from={quoted(place)}", None, on)
        expected += len(page["items"])
        if not page["items"]:
            break
        place = page["next"]
    listener.listen(True, until=lambda: len(listener.entries) >= expected)

    by_record = {}
    for entry in listener.entries:
        by_record.setdefault(entry["key"], []).append(entry["seq"])
    for key, seqs in by_record.items():
        if seqs != log_of(server, key, on):
            failures.append(f"{key}: the feed had {seqs}, its log has {log_of(server, key, on)}")
    if len(listener.entries) != expected:
        failures.append(f"the feed had {len(listener.entries)} entries, there are {expected}")
    if within < options.times / 10:
        failures.append(f"only {within} connections brought anything")
    on.close()
    ended, verified, text = server.end()
    if ended != 0 or verified != 0:
        failures.append(f"the server ended with {ended}, verify with {verified}: {text}")
    for failure in failures[:10]:
        print(failure)
    print(f"{options.times} reconnections, {within} with events, {len(listener.entries)} entries of {len(by_record)} "
          f"records, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
