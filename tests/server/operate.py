#!/usr/bin/env python3
"""What operators see of the real server: operate.py PAWL

Its metrics, read strictly as Prometheus reads them, after work whose figures are known; its log as JSON, which names every decision on a
failure and holds neither data nor the words of errors nor tokens; starts that are refused; and when it says that it is ready.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

MACHINE = """machine: parcel
initial: packing
data: {secret: string}
tasks: {pack: {queue: packers, retry: [10ms, 10ms]}}
states:
  packing: {task: pack, done: packed}
  packed: {final: true}
"""
SECRET = "nobody may read this"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = rf'{NAME}="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[0-9.e+-]+)\Z")


def parsed(text):
    """{name: {labels: value}}; whatever is not as the format has it is an error."""
    assert text.endswith("\n")
    kinds, samples, helped, current = {}, {}, set(), None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped, f"{name} stands twice"
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current in helped and kind in ("counter", "gauge", "histogram"), line
            assert (kind == "counter") == current.endswith("_total"), line
            kinds[current] = kind
        else:
            match = SAMPLE.match(line)
            assert match, line
            name, labels, value = match.groups()
            base = re.sub("_(bucket|sum|count)$", "", name) if kinds[current] == "histogram" else name
            assert base == current, f"{line} is not below its type"
            series = samples.setdefault(name, {})
            assert labels not in series, f"{line} stands twice"
            series[labels] = float(value)
    for name in (name for name, kind in kinds.items() if kind == "histogram"):
        check_histogram(name, samples)
    return samples


def check_histogram(name, samples):
    """Buckets rise, and the last one has all."""
    series = {}
    for labels, value in samples.get(name + "_bucket", {}).items():
        others, bound = re.fullmatch(r'(.*?),?le="([^"]*)"', labels).groups()
        series.setdefault(others or None, []).append((float(bound), value))
    for others, buckets in series.items():
        assert buckets == sorted(buckets) and buckets[-1][0] == float("inf"), buckets
        assert [value for _, value in buckets] == sorted(value for _, value in buckets), buckets
        assert buckets[-1][1] == samples[name + "_count"][others], name
        assert others in samples[name + "_sum"], name


class Operated:
    def __init__(self, pawl, directory, *options):
        with open(directory + "/parcel.yaml", "w") as file:
            file.write(MACHINE)
        self.log = open(directory + "/log", "w+")
        self.process = subprocess.Popen(
            [pawl, "serve", "--dir", directory + "/data", "--listen", "127.0.0.1:0", "--log-format", "json",
             "--apply", directory + "/parcel.yaml", *options], stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.url = self.process.stdout.readline().split(" at ")[1].strip()
        self.token = self.process.stdout.readline().split()[-1]

    def ask(self, path, body=None, token=None):
        headers = {"Authorization": "Bearer " + (token or self.token), "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=60) as reply:
                return reply.status, reply.headers["Content-Type"], reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def good(self, path, body=None):
        status, _, text = self.ask(path, body)
        assert status == 200, text
        return json.loads(text)

    def lines(self):
        self.process.terminate()
        assert self.process.wait(60) == 0
        self.log.seek(0)
        return [json.loads(line) for line in self.log]


def work(server):
    """One parcel fails once and is packed, one is given up, and some calls come twice or too late."""
    for key in "12":
        server.good(f"/v1/records/parcel/{key}", {"data": {"secret": SECRET}})
    claim = {"queues": ["packers"], "wait": "30s"}

    def named(attempt):
        return {name: attempt[name] for name in ("machine", "key", "token")}

    def settle(what, attempt, **more):
        return server.ask("/v1/" + what, {**named(attempt), **more})[0]

    failed = set()
    for _ in range(5):
        attempt = server.good("/v1/claim", claim)["attempts"][0]
        if attempt["key"] == "1" and "1" in failed:
            assert settle("done", attempt) == 200
            assert settle("done", attempt) == 200  # again
        else:
            failed.add(attempt["key"])
            assert settle("fail", attempt, code="no_tape", message="of " + SECRET) == 200
            assert settle("done", attempt) == 409  # too late


def check_metrics(server):
    status, kind, text = server.ask("/metrics")
    assert status == 200 and kind == "text/plain; version=0.0.4; charset=utf-8", (status, kind)
    metrics = parsed(text)
    of_parcel = 'machine="parcel"'
    expected = {
        "pawl_records_created_total": (of_parcel, 2), "pawl_transitions_total": (of_parcel, 1),
        "pawl_attempts_total": (of_parcel, 5), "pawl_retries_total": (of_parcel, 3),
        "pawl_gave_up_total": (of_parcel, 1), "pawl_holds_total": (of_parcel, 1),
        "pawl_failures_total": (of_parcel + ',code="no_tape"', 4),
        "pawl_time_in_state_seconds_count": (of_parcel + ',state="packing"', 1),
        "pawl_records": (of_parcel + ',state="packed"', 1),
        "pawl_records_on_hold": (of_parcel + ',state="packing"', 1),
        "pawl_stale_settles_total": (None, 4), "pawl_repeats_answered_total": (None, 1),
        "pawl_double_applied_total": (None, 0), "pawl_waiting_claims": (None, 0)}
    for name, (labels, value) in expected.items():
        assert metrics[name][labels] == value, (name, metrics[name])
    assert metrics["pawl_commit_seconds_count"] == metrics["pawl_batch_size_count"] != {None: 0}
    assert metrics["process_resident_memory_bytes"][None] > 1_000_000
    assert metrics["process_start_time_seconds"][None] > 1_700_000_000
    assert SECRET not in text
    for role, wanted in (("viewer", 200), ("app", 403)):
        token = server.good("/v1/tokens", {"name": role, "roles": [role]})["token"]
        assert server.ask("/metrics", token=token)[0] == wanted, role
    assert server.ask("/metrics", token="wrong")[0] == 401


def check_log(lines, token):
    text = json.dumps(lines)
    assert SECRET not in text and token not in text
    assert [line["event"] for line in lines[:4]] == ["start", "applied", "token_made", "ready"], lines[:4]
    applied, made = lines[1:3]
    assert (applied["machine"], applied["version"], applied["actor"]) == ("parcel", 1, "pawl serve"), applied
    assert (made["token"], made["actor"]) == ("admin", "the first start"), made
    assert [line["event"] for line in lines[-2:]] == ["stop", "stopped"], lines[-2:]

    def of(event):
        return [line for line in lines if line["event"] == event]

    retries = [(line["record"], line["attempt"], line["max"], line["delay"], line["error"]) for line in of("retry")]
    assert sorted(retries) == [("parcel/1", 1, 3, "10ms", "no_tape"), ("parcel/2", 1, 3, "10ms", "no_tape"),
                               ("parcel/2", 2, 3, "10ms", "no_tape")], retries
    assert all(line["next_at"] > line["at"] for line in of("retry"))
    gave_up, = of("gave_up")
    assert (gave_up["record"], gave_up["attempt"], gave_up["max"]) == ("parcel/2", 3, 3), gave_up
    hold, = of("hold")
    assert (hold["record"], hold["level"]) == ("parcel/2", "warn"), hold
    denied = [(line["path"], line["error"], line.get("actor")) for line in of("denied")]
    assert denied == [("/metrics", "role_missing", "app"), ("/metrics", "no_access", None)], denied


def check_refused(pawl, server, directory):
    """Two servers on one directory: the second says why it does not start, and at which level that is."""
    second = subprocess.run([pawl, "serve", "--dir", directory + "/data", "--listen", "127.0.0.1:0", "--log-level", "error"],
                            env={"PAWL_LOG_FORMAT": "json"}, capture_output=True, text=True, timeout=60)
    line = json.loads(second.stderr)
    assert second.returncode != 0 and line["event"] == "refused_start" and line["level"] == "error", second
    assert server.ask("/readyz")[0] == 200


def check_misspelt(pawl):
    """A variable that nobody reads is a line of the log where the log is JSON, and words where it is not."""
    for more, read in ((["--log-format", "json"], lambda text: json.loads(text)["text"]), ([], str)):
        refused = subprocess.run([pawl, "serve", "--memory", "--listen", "127.0.0.1:0", *more], env={"PAWL_LISTN": "127.0.0.1:0"},
                                 capture_output=True, text=True, timeout=60)
        assert refused.returncode == 1 and refused.stdout == "", refused
        assert "did you mean PAWL_LISTEN?" in read(refused.stderr), refused
        assert not more or json.loads(refused.stderr)["event"] == "refused_start", refused


def check_body_max(pawl, directory):
    """The largest body is the one that was configured, and a larger one is told so."""
    with open(directory + "/small_log", "w") as log:
        small = subprocess.Popen([pawl, "serve", "--memory", "--listen", "127.0.0.1:0", "--body-max", "2KiB"], stdout=subprocess.PIPE,
                                 stderr=log, text=True)
        try:
            url = small.stdout.readline().split(" at ")[1].strip()
            token = small.stdout.readline().split()[-1]
            for size, wanted in ((2048, 400), (2049, 413)):
                request = urllib.request.Request(url + "/v1/claim", b"x" * size, {"Authorization": "Bearer " + token,
                                                                                  "Content-Type": "application/json"})
                try:
                    urllib.request.urlopen(request, timeout=60)
                    raise AssertionError("it was taken")
                except urllib.error.HTTPError as error:
                    said = json.load(error)["error"]["message"]
                    assert error.code == wanted and (wanted == 400 or "2048 bytes" in said), (error.code, said)
        finally:
            small.kill()
            small.wait()


def check_bad_machine(pawl, directory):
    """What is wrong with a machine file is a line of the log for each finding, where the log is JSON."""
    bad = directory + "/bad.yaml"
    with open(bad, "w") as file:
        file.write("machine: bad\ninitial: gone\nstates:\n  here: {fnal: true}\n")
    command = [pawl, "serve", "--memory", "--listen", "127.0.0.1:0", "--log-format", "json", "--apply"]
    refused = subprocess.run([*command, bad], capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in refused.stderr.splitlines()]
    assert refused.returncode == 1 and refused.stdout == "", refused
    assert [line["event"] for line in lines] == ["start", "finding", "finding", "refused_start"], lines
    told = {name: value for name, value in lines[1].items() if name not in ("at", "text")}
    assert told == {"level": "error", "event": "finding", "file": bad, "line": 2, "column": 10, "id": "unknown_state"}, told
    assert "`gone`" in lines[1]["text"] and "final" in lines[2]["text"], lines
    absent = subprocess.run([*command, directory + "/none.yaml"], capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in absent.stderr.splitlines()]
    assert absent.returncode == 3 and lines[-1]["event"] == "refused_start" and "none.yaml" in lines[-1]["text"], absent


def main():
    pawl = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        server = Operated(pawl, directory)
        try:
            assert server.ask("/healthz")[0] == 200 and server.ask("/readyz")[0] == 200
            work(server)
            check_metrics(server)
            assert server.ask("/v1/clock/advance", {"by": "1s"})[0] == 404
            check_refused(pawl, server, directory)
            check_misspelt(pawl)
            check_body_max(pawl, directory)
            check_bad_machine(pawl, directory)
            check_log(server.lines(), server.token)
        finally:
            server.process.kill()
            server.process.wait()
    real = subprocess.run([pawl, "serve", "--dir", "nowhere", "--virtual-clock", "2026-03-01T08:00:00Z"], capture_output=True, text=True)
    assert real.returncode != 0 and "--memory" in real.stderr, real
    both = subprocess.run([pawl, "serve", "--dir", "nowhere", "--memory", "--virtual-clock", "2026-03-01T08:00:00Z"],
                          capture_output=True, text=True)
    assert both.returncode == 1 and "remove one of the two" in both.stderr, both
    print("metrics, log and refusals are as they should be")


if __name__ == "__main__":
    main()
