"""Starts the real `pawl serve`: the first start alone prints a token, and only loopback is served in the clear.

Usage: serve_lets_in.py PAWL
"""

import json
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

PAWL = sys.argv[1]
FAILED = []


def check(what, got, expected):
    if got != expected:
        FAILED.append(what)
        print(f"{what}: expected {expected!r}, got {got!r}")


class Serve:
    """A server until the end of the block; what it printed, and where it is."""

    def __init__(self, *arguments):
        self.server = subprocess.Popen([PAWL, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       encoding="utf-8")

    def __enter__(self):
        self.url = self.last_word()
        return self

    def line(self, stream=None):
        """The next one; empty when none comes, which fails a test and does not hang it."""
        at_most = threading.Timer(20, self.server.kill)
        at_most.start()
        line = (stream or self.server.stdout).readline()
        at_most.cancel()
        return line

    def last_word(self):
        return self.line().strip().split(" ")[-1]

    def __exit__(self, *_):
        self.end()

    def end(self):
        """What it printed after its address."""
        if self.server.poll() is None:
            self.server.terminate()
        rest = self.server.stdout.read()  # communicate() would pass over what was read with a line
        self.server.wait(timeout=60)
        return rest

    def status(self, token, path="/v1/counts", url=None, context=None):
        request = urllib.request.Request((url or self.url) + path, headers={"Authorization": f"Bearer {token}"})
        try:
            return urllib.request.urlopen(request, timeout=20, context=context).status
        except urllib.error.HTTPError as error:
            return error.code


def pawl(*arguments):
    done = subprocess.run([PAWL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def tokens(folder):
    data = folder + "/data"
    loopback = ("--dir", data, "--listen", "127.0.0.1:0")
    with Serve(*loopback) as first:
        line = first.line()
        token = line.strip().split(" ")[-1]
        check("the line of the token", line, f"access token (role admin, shown only once): {token}\n")
        check("the token lets in", first.status(token), 200)
        check("part of it does not", first.status(token[:-1]), 401)
        check("that is all it prints", first.end(), "")
    with Serve(*loopback) as second:
        check("the token lets in again", second.status(token), 200)
        check("it is not shown again", second.end(), "")
    made = json.loads(pawl("token", "create", "look", "--role", "viewer", "--dir", data, "--json")[1])["token"]
    pawl("token", "revoke", "admin", "--dir", data)
    with Serve(*loopback) as third:
        check("a token of the command line lets in", third.status(made), 200)
        check("what it revoked does not", third.status(token), 401)
        check("no token is made when there is one", third.end(), "")


def failed_start(folder):
    """A first start that fails makes no token, which nobody would ever see."""
    data = folder + "/late"
    bad = folder + "/bad.yaml"
    with open(bad, "w", encoding="utf-8") as file:
        file.write("machine: bad\n")
    check("a bad machine ends it", pawl("serve", "--dir", data, "--listen", "127.0.0.1:0", "--apply", bad)[0], 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        check("a port that is taken ends it", pawl("serve", "--dir", data, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")[0], 3)
    with Serve("--dir", data, "--listen", "127.0.0.1:0") as late:
        check("the first start that succeeds shows the token", late.line()[:12], "access token")


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout",
                    folder + "/key.pem", "-out", folder + "/certificate.pem"], check=True, stderr=subprocess.DEVNULL)


def reloads(folder, secure):
    """SIGHUP reads the certificate again; what cannot be read leaves the one before."""
    port = int(secure.url.rsplit(":", 1)[1])

    def shown():
        return ssl.get_server_certificate(("127.0.0.1", port)).strip()

    def hang_up(says):
        secure.server.send_signal(signal.SIGHUP)
        line = secure.line(secure.server.stderr)
        while line and says not in line:
            line = secure.line(secure.server.stderr)
        check(f"the log says{says}", says in line, True)

    first = shown()
    make_certificate(folder)
    hang_up(" info reload")
    with open(folder + "/certificate.pem", encoding="utf-8") as file:
        second = file.read().strip()
    check("the certificate is another one", second != first, True)
    check("the certificate after SIGHUP", shown(), second)
    with open(folder + "/certificate.pem", "w", encoding="utf-8") as file:
        file.write("this is none")
    hang_up(" error reload")
    if secure.server.poll() is None:
        check("the certificate after one that is none", shown(), second)


def addresses(folder):
    refused = "pawl: error: access tokens would cross the network unencrypted: "
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
        code, out, err = pawl("serve", "--memory", "--listen", address)
        check(address, (code, out, err[:len(refused)]), (1, "", refused))
    check("no port", pawl("serve", "--memory", "--listen", "localhost"),
          (1, "", "pawl: --listen: error: 'localhost' has no port: write localhost:7295\n"))
    with Serve("--memory", "--listen", "localhost:0") as local:
        check("localhost is loopback", local.status(local.server.stdout.readline().split()[-1]), 200)
    with Serve("--memory", "--listen", "0.0.0.0:0", "--insecure-listen") as insecure:
        token = insecure.last_word()
        check("--insecure-listen", insecure.status(token, url=insecure.url.replace("0.0.0.0", "127.0.0.1")), 200)
    make_certificate(folder)
    with Serve("--memory", "--listen", "0.0.0.0:0", "--tls-certificate", folder + "/certificate.pem", "--tls-key",
               folder + "/key.pem") as secure:
        token = secure.last_word()
        check("it says https", secure.url[:8], "https://")
        trusting = ssl.create_default_context(cafile=folder + "/certificate.pem")
        trusting.check_hostname = False
        check("TLS", secure.status(token, url=secure.url.replace("0.0.0.0", "127.0.0.1"), context=trusting), 200)
        reloads(folder, secure)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokens(folder)
        failed_start(folder)
        addresses(folder)
    print(f"{len(FAILED)} are not so")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
