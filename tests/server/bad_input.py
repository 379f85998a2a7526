#!/usr/bin/env python3
"""Sends a server what it must not take, beside what it must: bad_input.py PAWL --minutes M [--seed N]

Smuggled requests cut at random, tricks with paths, bodies that are too long, too deep, of the wrong kind or no JSON, headers
without an end, chunks with long extensions or of one byte, clients that stop in the middle or never read. Each has to be
refused by its status with a stable body, or dropped; after each an ordinary call has to work. The server's memory after the
end may be 10 MB above what it was after the first minute; a run of less than two minutes does not look at that.
"""

import argparse
import json
import random
import sys
import threading
import time

from pawl_server import Server, read_response

GROWTH_KIB = 10 * 1000  # 10 MB, rounded down
DEEP = 10_000


def smuggled(server):
    post = "POST /v1/records/parcel/smuggled HTTP/1.1\r\nHost: pawl\r\n"
    chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
    return [(text.encode(), 400) for text in (
        post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        post + "Content-Length: 5, 5\r\n\r\nhello",
        post + "Content-Length: +5\r\n\r\nhello",
        post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        post.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        post + "X: y\r\n folded\r\n\r\n",
        post + "X: y\nZ: w\r\n\r\n",
        post + "Host: another\r\n\r\n",
        "POST / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\r\n\r\n",
        "GET http://pawl/ HTTP/1.1\r\nHost: pawl\r\n\r\n",
        chunked + "1;" + "x" * 300 + "\r\n",
        chunked + "zz\r\n",
        chunked + "1\nx\n0\n\n" + "x" * 300,
        chunked + "5\r\nhelloxx",
        chunked + "0\r\nAuthorization: Bearer x\r\n\r\n",
    )]


def refused(server):
    def post(body, more=""):
        return server.request("POST", "/v1/records/parcel/bad", body, more)

    cases = [(post(body), 400) for body in (
        "[", "[]", "1", "nul", "{} {}", '{"data":[]}', '{"dta":{}}', '{"data":{},"data":{}}', '{"dry_run":"yes"}',
        '{"idempotency_key":1}', '{"at":"soon"}', '{"data":{"n":"many"}}', '{"data":{"other":1}}', '{"data":{},}',
        "[" * DEEP, '{"data":{"n":' + "[" * DEEP + "]" * DEEP + "}}", '{"data":' + '{"n":' * DEEP + "1" + "}" * (DEEP + 1))]
    cases += [(server.request("GET", path), 404) for path in (
        "/v1/counts;x", "//v1/counts", "/v1//counts", "/v1/counts/", "/v1/x/../counts", "/v1/%2e%2e/v1/counts", "/v1%2fcounts",
        "/V1/counts", "/v1/counts.json", "/v1/counts%00", "/v1/records/parcel/%zz", "/" + "x/" * 5000)]
    cases += [(server.request("GET", "/v1/records?" + query), 400) for query in (
        "max=0", "max=x", "macine=parcel", "max=1&max=2", "x=%zz", "from=nothing", "label=x")]
    cases += [
        (server.request("POST", "/v1/claim", {"queues": "packers"}), 400),
        (server.request("POST", "/v1/done", {"machine": "parcel", "key": "none", "token": "x" * 32}), 409),
        (server.request("DELETE", "/v1/counts"), 405),
        (server.request("GET", "/v1/counts", "{}"), 400),
        (b"GET /v1/counts HTTP/1.1\r\nHost: pawl\r\nAuthorization: Bearer nothing\r\n\r\n", 401),
        (post("{}").replace(b"application/json", b"text/plain"), 415),
        (server.request("GET", "/v1/counts", None, "X: " + "x" * 20_000 + "\r\n"), 431),
        (server.request("POST", "/v1/records/parcel/bad", None, "Content-Length: 99999999\r\n"), 413),
        (server.request("POST", "/v1/records/parcel/bad", None, "Transfer-Encoding: chunked\r\n") + b"ffffffff\r\n", 413),
        (server.request("POST", "/v1/records/parcel/bad", None, "Transfer-Encoding: chunked\r\n")
         + b"1\r\n \r\n" * 20_000 + b"0\r\n\r\n", 415),
        (post('{"data":{"n":' + " " * 9_000_000 + "1}}"), 413),
    ]
    return cases


class Load:
    def __init__(self, server, seed):
        self.server = server
        self.draw = random.Random(seed)
        self.failures = []
        self.count = 0
        self.left = []  # connections whose clients have stopped in the middle

    def fail(self, what):
        self.failures.append(what)

    def send_bad(self, bytes_, status, behind=b""):
        made = self.server.connect()
        cut = self.draw.randrange(1, len(bytes_))
        try:
            made.sendall(bytes_[:cut])
            made.sendall(bytes_[cut:] + behind)
        except OSError:
            pass  # refused before all was sent
        got, body = read_response(made)
        text = body.decode(errors="replace")
        said = json.loads(text or "{}")
        if got != status or ("error" not in said and said.get("answer") != "stale"):
            self.fail(f"{bytes_[:200]} cut at {cut}: {got} {text[:200]}, not {status}")
        if behind and made.recv(1):
            self.fail(f"{bytes_[:200]}: there is a second answer")
        made.close()

    def stop_in_the_middle(self):
        made = self.server.connect()
        request = self.draw.choice((
            self.server.request("POST", "/v1/records/parcel/slow", '{"data":{}}'),
            self.server.request("GET", "/v1/feed/live")))
        made.sendall(request[: self.draw.randrange(1, len(request) + 1)])
        self.left.append(made)
        while len(self.left) > 200:
            self.left.pop(0).close()

    def live(self, on):
        """What an application and a worker do."""
        self.count += 1
        key = f"k{self.draw.randrange(1000)}"
        for method, path, body in (("POST", f"/v1/records/parcel/{key}", {}),
                                   ("POST", "/v1/claim", {"queues": ["packers"]})):
            status, answer = self.server.ask(method, path, body, on)
            if status != 200:
                self.fail(f"{path}: {status} {answer}")
        for attempt in answer.get("attempts", []):
            settle = {name: attempt[name] for name in ("machine", "key", "token")}
            status, answer = self.server.ask("POST", "/v1/done", settle, on)
            if status != 200:
                self.fail(f"done: {status} {answer}")

    def run(self, until):
        on = self.server.connect()
        behind = self.server.request("POST", "/v1/records/parcel/smuggled", {})
        while time.monotonic() < until and not self.failures:
            for bytes_, status in smuggled(self.server):
                self.send_bad(bytes_, status, behind)
                self.live(on)
            for bytes_, status in refused(self.server):
                self.send_bad(bytes_, status)
                self.live(on)
                self.stop_in_the_middle()
        on.close()
        for made in self.left:
            made.close()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--minutes", type=float, default=2)
    words.add_argument("--seed", type=int, default=int(time.time()))
    options = words.parse_args()
    print(f"seed {options.seed}", flush=True)
    server = Server(options.program)
    start = time.monotonic()
    loads = [Load(server, options.seed + i) for i in range(2)]
    threads = [threading.Thread(target=load.run, args=(start + options.minutes * 60,)) for load in loads]
    for thread in threads:
        thread.start()
    settled = start + min(60, options.minutes * 30)
    while time.monotonic() < settled and any(thread.is_alive() for thread in threads):
        threads[0].join(timeout=0.1)
    before = server.memory_kib()
    for thread in threads:
        thread.join()
    after = server.memory_kib()

    failures = [failure for load in loads for failure in load.failures]
    if options.minutes >= 2 and after > before + GROWTH_KIB:
        failures.append(f"memory has grown from {before} to {after} KiB")
    if server.ask("GET", "/v1/records/parcel/smuggled")[0] != 404:
        failures.append("a smuggled request was carried out")
    status, counts = server.ask("GET", "/v1/counts")
    if status != 200 or not counts["items"]:
        failures.append(f"counts: {status} {counts}")
    ended, verified, text = server.end()
    if ended != 0 or verified != 0:
        failures.append(f"the server ended with {ended}, verify with {verified}: {text}")
    for failure in failures[:10]:
        print(failure)
    print(f"{sum(load.count for load in loads)} bad requests in {(time.monotonic() - start) / 60:.1f} minutes, memory "
          f"{before} KiB and then {after} KiB, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
