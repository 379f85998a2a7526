"""The program as a server, for tests: started in a directory of its own, and spoken to over real sockets."""

import ctypes
import json
import signal
import socket
import subprocess
import tempfile
import urllib.parse

MACHINE = """machine: parcel
initial: packing
data: {n: {type: int, default: 0}}
states:
  packing: {task: pack, done: packed, on: {add: {set: {n: "{data.n + 1}"}}}}
  packed: {final: true}
tasks:
  pack: {queue: packers}
"""


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Server:
    def __init__(self, program, *options):
        self.directory = tempfile.TemporaryDirectory()
        machine = self.directory.name + "/parcel.yaml"
        with open(machine, "w") as file:
            file.write(MACHINE)
        self.store = self.directory.name + "/store"
        self.program = program
        self.options = ["--apply", machine, *options]
        self.port = 0
        self.start()
        self.token = self.process.stdout.readline().split()[-1]

    def start(self):
        """At the port that it had before, if it had one."""
        self.process = subprocess.Popen(
            [self.program, "serve", "--dir", self.store, "--listen", f"127.0.0.1:{self.port}", *self.options],
            stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def request(self, method, path, body=None, more=""):
        head = f"{method} {path} HTTP/1.1\r\nHost: pawl\r\nAuthorization: Bearer {self.token}\r\n{more}"
        text = "" if body is None else body if isinstance(body, str) else json.dumps(body)
        if text:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n"
        return (head + "\r\n" + text).encode()

    def ask(self, method, path, body=None, on=None):
        """The status and the body of one request, on a connection of its own unless one is given."""
        made = on or self.connect()
        try:
            made.sendall(self.request(method, path, body))
            status, text = read_response(made)
            return status, json.loads(text)
        finally:
            if on is None:
                made.close()

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def end(self):
        """Says how it ended, and what `pawl verify` finds in what it leaves."""
        self.process.send_signal(signal.SIGTERM)
        ended = self.process.wait(timeout=60)
        verified = subprocess.run([self.program, "verify", self.store], capture_output=True, text=True)
        return ended, verified.returncode, verified.stdout + verified.stderr


def read_response(made):
    """None when the connection ends before there is one; what comes behind it is left out."""
    got = b""
    while b"\r\n\r\n" not in got:
        some = made.recv(65536)
        if not some:
            return None, b""
        got += some
    head, body = got.split(b"\r\n\r\n", 1)
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        some = made.recv(65536)
        if not some:
            return None, b""
        body += some
    return int(head.split()[1]), body


def quoted(text):
    return urllib.parse.quote(text, safe="")
