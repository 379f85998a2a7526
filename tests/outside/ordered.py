#!/usr/bin/env python3
"""Deliveries to an ordered channel, by the real server: ordered.py PAWL

Two records tell the same webhook, which refuses the first delivery of one of them. The other's all come, in order; of the first record
nothing passes the one that fails, not even after the server was killed. Nothing waits for a fixed time.
"""
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from services import call

MACHINE = """
machine: teller
initial: awake
events: {tell: {with: {n: int}}}
states:
  awake: {on: {tell: {effects: [{notify: office, with: {who: "{record.key}", n: "{event.n}"}}]}}, after: {900d: over}}
  over: {final: true}
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    """Refuses the first of `a` until it is told to take it."""
    came = []
    changed = threading.Condition()
    takes_all = False

    def do_POST(self):
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["payload"]
        with Receiver.changed:
            is_taken = Receiver.takes_all or payload != {"who": "a", "n": 1}
            Receiver.came.append((payload["who"], payload["n"], is_taken))
            Receiver.changed.notify_all()
        self.send_response(204 if is_taken else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

    @classmethod
    def wait(cls, what, holds):
        with cls.changed:
            assert cls.changed.wait_for(lambda: holds(cls.came), 60), f"{what}: {cls.came}"

    @classmethod
    def of(cls, who):
        with cls.changed:
            return [n for whose, n, _ in cls.came if whose == who]


def start(pawl, directory):
    server = subprocess.Popen([pawl, "serve", "--config", str(directory / "pawl.yaml")], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().split(" at ")[1].strip()


def run(pawl, directory, stack):
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    (directory / "teller.yaml").write_text(MACHINE)
    (directory / "pawl.yaml").write_text(json.dumps({
        "dir": str(directory / "data"),
        "listen": "127.0.0.1:0",
        "apply": [str(directory / "teller.yaml")],
        "outside": {"networks": ["127.0.0.0/8"]},
        "channels": {"office": {"webhook": f"http://127.0.0.1:{receiver.server_port}/", "ordered": True}}}))
    server, url = start(pawl, directory)
    stack.append(server)
    token = server.stdout.readline().rsplit(" ", 1)[1].strip()

    for who in "ab":
        call(url, token, f"/v1/records/teller/{who}", {})
    for n in range(1, 6):
        for who in "ab":
            call(url, token, f"/v1/records/teller/{who}/fire", {"event": "tell", "payload": {"n": n}})
    Receiver.wait("all of b, and the first of a", lambda came: ("a", 1, False) in came and ("b", 5, True) in came)
    assert Receiver.of("b") == [1, 2, 3, 4, 5], Receiver.of("b")
    assert set(Receiver.of("a")) == {1}, Receiver.of("a")

    server.kill()
    server.wait()
    with Receiver.changed:
        Receiver.takes_all = True
    server, url = start(pawl, directory)
    stack.append(server)
    items = call(url, token, "/v1/records?machine=delivery&state=sending&max=10")["items"]
    first = min((item for item in items if item["data"]["with"]["who"] == "a"), key=lambda item: item["data"]["with"]["n"])
    if first["data"]["with"]["n"] == 1:  # else it has been tried again by itself
        key = urllib.parse.quote(first["key"], safe="")
        call(url, token, f"/v1/records/delivery/{key}/orders", {"order": "retry", "reason": "it takes them now"})
    Receiver.wait("all of a", lambda came: ("a", 5, True) in came)
    taken = [n for whose, n, is_taken in Receiver.came if whose == "a" and is_taken]
    assert taken == [1, 2, 3, 4, 5], taken
    assert Receiver.of("a") == sorted(Receiver.of("a")), Receiver.of("a")
    assert Receiver.of("b") == [1, 2, 3, 4, 5], Receiver.of("b")
    receiver.shutdown()


def main():
    stack = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(sys.argv[1], pathlib.Path(directory), stack)
        finally:
            for process in stack:
                process.kill()
                process.wait()
    print("10 deliveries in the order of their sources, across a refusal and a kill")


if __name__ == "__main__":
    main()
