#!/usr/bin/env python3
"""The verbs that stay with a server, while it is killed and started again: verbs.py PAWL

`pawl tail` shows each entry once, in order, and misses none. `pawl work` goes on when the server is back: what its command
did meanwhile is settled, once. `pawl top` shows how fast records move.
"""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading

from pawl_server import Server, end_with_parent, quoted

TIMES = 5


class Verb:
    """A verb that runs beside the server; what it prints is waited for, line by line."""

    def __init__(self, server, *words):
        environment = dict(os.environ, PAWL_URL=f"http://127.0.0.1:{server.port}", PAWL_TOKEN=server.token)
        self.process = subprocess.Popen([server.program, *words], env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
        watch = threading.Timer(60, self.process.kill)  # a test that would hang fails
        watch.daemon = True
        watch.start()

    def line(self):
        return read_line(self.process.stdout)

    def complaint(self):
        return read_line(self.process.stderr)

    def end(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        rest = self.process.communicate()
        return self.process.returncode, *rest


def read_line(stream):
    line = stream.readline()
    if not line:
        raise SystemExit("verbs: it has ended")
    return line


def check(holds, what):
    if not holds:
        raise SystemExit(f"verbs: {what}")


def create(server, key):
    status, answer = server.ask("POST", f"/v1/records/parcel/{quoted(key)}", {})
    check(status == 200, f"create: {status} {answer}")


def tail_misses_nothing(program):
    server = Server(program)
    create(server, "before")
    tail = Verb(server, "tail", "parcel", "--from", "start", "--json")
    seen = []
    for i in range(TIMES):
        create(server, f"{i}/a")
        while f"{i}/a" not in seen:
            seen.append(json.loads(tail.line())["key"])
        server.kill()
        check("; trying again" in tail.complaint(), "tail does not say that the server is away")
        server.start()
        create(server, f"{i}/b")
        while f"{i}/b" not in seen:
            seen.append(json.loads(tail.line())["key"])
        check("connected again" in tail.complaint(), "tail does not say that the server is back")
    wanted = ["before"] + [f"{i}/{part}" for i in range(TIMES) for part in "ab"]
    check(seen == wanted, f"tail has shown {seen}, not {wanted}")
    tail.end()
    check(server.end()[:2] == (0, 0), "the server did not end well")


def tail_goes_on_from_a_place(program):
    server = Server(program)
    create(server, "before")
    status, answer = server.ask("GET", "/v1/feed?from=end")
    tail = Verb(server, "tail", "--json", "--from", answer["next"], "--max", "2")
    create(server, "one")
    create(server, "two")
    printed = [json.loads(line)["key"] for line in tail.process.communicate()[0].splitlines()]
    check(printed == ["one", "two"] and tail.process.returncode == 0, f"tail has shown {printed}")
    # Unless it is said where, it begins with what happens now.
    tail = Verb(server, "tail", "--json", "--max", "1")
    count = 0
    while tail.process.poll() is None:
        count += 1
        create(server, f"now/{count}")
    shown = json.loads(tail.line())["key"]
    check(shown.startswith("now/"), f"tail began with {shown}")
    server.end()


def tail_ends_with_its_token(program):
    server = Server(program)
    create(server, "before")
    status, answer = server.ask("POST", "/v1/tokens", {"name": "eye", "roles": ["viewer"]})
    admin, server.token = server.token, answer["token"]
    tail = Verb(server, "tail", "--from", "start")
    server.token = admin
    check("parcel/before" in tail.line(), "tail shows something else")
    server.ask("POST", "/v1/tokens/revoke", {"name": "eye"})
    out, complaints = tail.process.communicate()
    check(tail.process.returncode == 1 and "rejected the access token" in complaints,
          f"a token that was revoked: {tail.process.returncode} {complaints}")
    server.end()


def work_goes_on(program):
    server = Server(program)
    started, release = (server.directory.name + "/" + name for name in ("started", "release"))
    os.mkfifo(started)
    os.mkfifo(release)
    work = Verb(server, "work", "--queue", "packers", "--", "sh", "-c", f"echo $PAWL_KEY > {started}; read x < {release}")
    create(server, "1")
    with open(started) as command:
        check(command.read() == "1\n", "another command runs")
    server.kill()
    with open(release, "w") as command:
        command.write("\n")
    complaint = work.complaint()
    check("cannot reach" in complaint and "; trying again in 500ms" in complaint, f"it says {complaint}")
    check("; trying again in 1s" in work.complaint(), "it does not wait longer")
    server.start()
    check(work.line() == "parcel/1 pack 1: done: packed\n", "the attempt is not settled")
    # A claim that waits is cut off, and asked again.
    server.kill()
    check("; trying again in 500ms" in work.complaint(), "it does not say that the server is away")
    server.start()
    create(server, "2")
    with open(started) as command:
        check(command.read() == "2\n", "another command runs")
    # Told to end, the server lets the worker settle.
    server.process.send_signal(signal.SIGTERM)
    with open(release, "w") as command:
        command.write("\n")
    check(work.line() == "parcel/2 pack 1: done: packed\n", "the second attempt is not settled")
    check(server.process.wait() == 0, "the server did not end well")
    server.start()
    code, out, complaints = work.end()
    check(code == 0 and out == "2 done, 0 failed\n", f"the worker ended with {code}: {out} {complaints}")
    status, log = server.ask("GET", "/v1/records/parcel/1/log")
    kinds = [entry["kind"] for entry in log["items"]]
    check(kinds.count("done") == 1, f"it was settled otherwise than once: {kinds}")
    server.end()


def top_shows_rates(program):
    server = Server(program)
    top = Verb(server, "top", "--json", "--every", "200ms")
    for i in range(1000):
        create(server, str(i))
        if i % 20 == 0 and json.loads(top.line())["per_second"]["created"] > 0:
            break
    else:
        raise SystemExit("verbs: top shows no rate")
    server.kill()
    check("; trying again" in top.complaint(), "top does not say that the server is away")
    server.start()
    while json.loads(top.line())["records"] != i + 1:
        pass
    top.end()
    server.end()


def top_is_drawn_on_a_terminal(program):
    server = Server(program)
    create(server, "1")
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 20, 0, 0))  # five rows and one to spare
    environment = dict(os.environ, PAWL_URL=f"http://127.0.0.1:{server.port}", PAWL_TOKEN=server.token)
    top = subprocess.Popen([program, "top", "--every", "10ms"], env=environment, stdout=its, preexec_fn=end_with_parent)
    drawn = b""
    while drawn.count(b"\x1b[H") < 3:
        drawn += os.read(ours, 4096)
    top.kill()
    view = drawn.split(b"\x1b[H")[1].decode().replace("\r", "")
    check(view.endswith("\x1b[J"), f"what was there before is not removed: {view!r}")
    lines = [line.removesuffix("\x1b[K") for line in view.removesuffix("\x1b[J").splitlines()]
    check(lines[1:] == ["records: 1, retrying", "per second: 0.0 entr", "", "MACHINE  STATE    RE"], f"{lines}")
    server.end()


def a_certificate_is_looked_at(program):
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = folder + "/certificate.pem", folder + "/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        server = Server(program, "--tls-certificate", certificate, "--tls-key", key)

        def list_by(host, *options):
            done = subprocess.run([program, "list", "--url", f"https://{host}:{server.port}", *options], capture_output=True,
                                  text=True, env=dict(os.environ, PAWL_TOKEN=server.token))
            check(server.token not in done.stdout + done.stderr, "a token is printed")
            return done.returncode, done.stdout or done.stderr

        check(list_by("localhost", "--ca", certificate) == (0, "no records\n"), "a certificate that is trusted")
        for code, said in (list_by("localhost"), list_by("localhost", "--insecure"), list_by("127.0.0.1", "--ca", certificate)):
            check(code == 3 and "SSL" in said and "certificate" in said, f"a certificate that is not trusted: {code} {said}")
        server.end()


def main():
    for test in (a_certificate_is_looked_at, tail_misses_nothing, tail_goes_on_from_a_place, tail_ends_with_its_token, work_goes_on, top_shows_rates, top_is_drawn_on_a_terminal):
        test(sys.argv[1])
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
