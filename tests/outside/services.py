#!/usr/bin/env python3
"""`pawl serve` with what it calls: services.py PAWL

A service that fails on purpose does the `http:` task. A webhook's receiver is killed after it has read a delivery and before it has
answered; the same one comes again under the same id, signed. A real SMTP server gets the mail. Nothing waits for a fixed time.
"""
import base64
import email
import email.header
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

from aiosmtpd.controller import Controller

KEY = b"a key for webhooks"
MACHINE = """
machine: order
initial: paying
data: {amount: int}
tasks: {pay: {http: {post: "%s/pay/{record.key}"}, retry: [10ms, 10ms, 10ms]}}
states:
  paying: {task: pay, done: paid}
  paid:
    final: true
    effects: [{notify: office}, {notify: people}]
"""


class Service(http.server.BaseHTTPRequestHandler):
    """Fails twice, then takes the money."""
    keys = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Service.keys.append((self.headers["Idempotency-Key"], self.path, json.loads(body)))
        is_third = len(Service.keys) == 3
        answer = json.dumps({"receipt": 7} if is_third else {"error": "no"}).encode()
        self.send_response(200 if is_third else 503)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


# A process of its own, so that it can be killed: it prints what it has read; when told to, it then waits to be killed.
RECEIVER = """
import http.server, json, sys, time
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        print(json.dumps({"body": body, **{name: self.headers[name] for name in names}}), flush=True)
        if sys.argv[2] == "waits":
            time.sleep(600)
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
"""


def start_receiver(port, mode):
    process = subprocess.Popen([sys.executable, "-c", RECEIVER, str(port), mode], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


class Mails:
    def __init__(self):
        self.got = []
        self.came = threading.Event()

    async def handle_DATA(self, _server, _session, envelope):
        self.got.append(envelope)
        self.came.set()
        return "250 OK"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def check_signature(delivery):
    content = f'{delivery["webhook-id"]}.{delivery["webhook-timestamp"]}.{delivery["body"]}'.encode()
    wanted = "v1," + base64.b64encode(hmac.new(KEY, content, hashlib.sha256).digest()).decode()
    assert delivery["webhook-signature"] == wanted, delivery
    assert json.loads(delivery["body"])["id"] == delivery["webhook-id"]


def call(url, token, path, body=None):
    request = urllib.request.Request(url + path, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def run(pawl, directory, stack):
    service = http.server.HTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    receiver, port = start_receiver(0, "waits")
    stack.append(receiver)
    mails = Mails()
    smtp_port = free_port()  # the controller cannot choose one
    smtp = Controller(mails, hostname="127.0.0.1", port=smtp_port)
    smtp.start()

    (directory / "order.yaml").write_text(MACHINE % f"http://127.0.0.1:{service.server_port}")
    (directory / "key").write_bytes(KEY + b"\n")
    (directory / "pawl.yaml").write_text(json.dumps({
        "dir": str(directory / "data"),
        "listen": "127.0.0.1:0",
        "apply": [str(directory / "order.yaml")],
        "outside": {"hosts": ["127.0.0.1"], "networks": ["127.0.0.0/8"]},
        "channels": {
            "office": {"webhook": f"http://127.0.0.1:{port}/", "key": f"file:{directory}/key"},
            "people": {"mail": f"smtp://127.0.0.1:{smtp_port}", "from": "pawl@example.org", "to": ["ann@example.org"],
                       "without_tls": True}}}))
    server = subprocess.Popen([pawl, "serve", "--config", str(directory / "pawl.yaml")], stdout=subprocess.PIPE, text=True)
    stack.append(server)
    url = server.stdout.readline().split(" at ")[1].strip()
    token = server.stdout.readline().rsplit(" ", 1)[1].strip()

    call(url, token, "/v1/records/order/17", {"data": {"amount": 3}})
    record = call(url, token, "/v1/records/order/17?wait=30s")
    assert record["state"] == "paid" and record["result"] == {"receipt": 7}, record
    assert Service.keys == [(Service.keys[0][0], "/pay/17", {"amount": 3})] * 3, Service.keys
    codes = [entry["error"]["code"] for entry in call(url, token, "/v1/records/order/17/log")["items"] if "error" in entry]
    assert codes == ["http_503"] * 2, codes

    first = json.loads(receiver.stdout.readline())
    check_signature(first)
    receiver.kill()
    receiver.wait()
    receiver, _ = start_receiver(port, "answers")
    stack.append(receiver)
    second = json.loads(receiver.stdout.readline())
    check_signature(second)
    assert second["webhook-id"] == first["webhook-id"] and second["body"] == first["body"]
    failed = call(url, token, "/v1/records?machine=delivery&max=10")["items"]
    office = next(item for item in failed if item["data"]["channel"] == "office")
    log = call(url, token, f'/v1/records/delivery/{urllib.parse.quote(office["key"], safe="")}/log')["items"]
    assert [entry["error"]["code"] for entry in log if "error" in entry] == ["network"], log

    assert mails.came.wait(30), "there was no mail"
    mail = email.message_from_bytes(mails.got[0].content)
    assert mails.got[0].rcpt_tos == ["ann@example.org"], mails.got[0].rcpt_tos
    subject = email.header.make_header(email.header.decode_header(mail["Subject"]))
    assert str(subject).startswith("order/17, paid"), subject
    delivered = json.loads(mail.get_payload(decode=True).decode().split("\n\n", 1)[1])
    assert delivered["payload"]["data"] == {"amount": 3}, delivered

    server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 0
    smtp.stop()
    service.shutdown()


def main():
    stack = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(sys.argv[1], pathlib.Path(directory), stack)
        finally:
            for process in stack:
                if process.poll() is None:
                    os.kill(process.pid, signal.SIGKILL)
                process.wait()
    print("1 task failed twice and was done, 1 webhook came again under its id, 1 mail")


if __name__ == "__main__":
    main()
