#!/usr/bin/env python3
"""A worker for the queue `payments`: claims attempts, charges, and says how it went. PAWL_URL and PAWL_TOKEN say where.
Its bank is out of order twice for every order, so that there is something to see."""
import json, os, time, urllib.error, urllib.request

if "PAWL_URL" not in os.environ or "PAWL_TOKEN" not in os.environ:
    exit("payments.py: set PAWL_URL and PAWL_TOKEN: paste the export line that `make run` prints")


def call(path, body):
    headers = {"Authorization": "Bearer " + os.environ["PAWL_TOKEN"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["PAWL_URL"] + path, json.dumps(body).encode(), headers)
    while True:  # what is repeated is carried out once
        try:
            return json.load(urllib.request.urlopen(request, timeout=60))
        except urllib.error.HTTPError as error:
            if error.code < 500:  # 409: the attempt is over, and somebody else has it
                return json.load(error)
        except OSError as error:
            print(error, flush=True)
        time.sleep(1)


def charge(attempt):  # a real bank is given attempt["idempotency_key"], so that it charges once, however often it is asked
    asked[attempt["key"]] = asked.get(attempt["key"], 0) + 1
    return {"code": "http_503", "message": "the bank is closed"} if asked[attempt["key"]] <= 2 else None


asked = {}
while True:
    claimed = call("/v1/claim", {"queues": ["payments"], "wait": "30s", "worker": "payments.py"})
    for attempt in claimed["attempts"] if "attempts" in claimed else exit(claimed["error"]["message"]):
        trouble = charge(attempt)
        named = {name: attempt[name] for name in ("machine", "key", "token")}
        answer = call("/v1/fail", named | trouble) if trouble else call("/v1/done", named)
        print(f"{attempt['key']}: {trouble['message'] if trouble else 'paid'}: {answer.get('state')}", flush=True)
