#!/usr/bin/env python3
"""Lets schemathesis call every route of a running `pawl serve`: tests/openapi/check.py PROGRAM [--minutes M]

The server is the real binary on a free port of loopback, with a directory of its own and the machines of machines/.
Replies are held against the document strictly: members that it does not name are errors here, though clients are to
pass over them. The live feed never ends, so it is left to the tests of the server.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "schemathesis"
# Machines of machines/, with the data that their records cannot be without.
MACHINES = {"order": {"amount": 12}, "parcel": {"sku": "a"}, "approval": {"title": "a", "requested_by": "eve"}}
KEYS = ["1", "2", "a/b"]


def installed():
    """The program, in an environment of its own."""
    program = VENV / "bin" / "schemathesis"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        packages = ["schemathesis", "openapi-spec-validator"]
        subprocess.run([VENV / "bin" / "pip", "install", "-q", *packages], check=True)
    return program


def channels():
    """The names of channels that the machines notify."""
    text = "".join((ROOT / "machines" / f"{name}.yaml").read_text() for name in MACHINES)
    return sorted(set(re.findall(r"\b(?:notify|alert): *([a-z_]+)", text)))


def serve(program, directory):
    command = [program, "serve", "--dir", directory, "--listen", "127.0.0.1:0"]
    for name in MACHINES:
        command += ["--apply", ROOT / "machines" / f"{name}.yaml"]
    for name in channels():
        command += ["--log-channel", name]
    log = open(pathlib.Path(directory).parent / "server.log", "w")
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    url = re.search(r"http://\S+", server.stdout.readline())
    token = re.search(r"pawl_\S+", server.stdout.readline())
    if not url or not token:
        sys.exit("the server did not start: see " + log.name)
    return server, url[0], token[0]


def fetch(url, token, body=None):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data=data, headers=headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def create_records(url, token):
    calls = [
        {"call": "create", "machine": machine, "key": key, "data": data}
        for machine, data in MACHINES.items()
        for key in KEYS
    ]
    made = fetch(url + "/v1/batch", token, {"calls": calls})
    if any(item["status"] != 200 for item in made["items"]):
        sys.exit(f"records could not be made: {made}")


def made_strict(document):
    """Replies may have no members but those that are named, and records that are asked for exist, or may."""
    names = {"machine": [*MACHINES, "none"], "key": [*KEYS, "none"]}
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] in names:
                    parameter["schema"]["enum"] = names[parameter["name"]]
    # Who waits is answered late, which is for the tests of the API to prove: here nobody waits for long.
    wait = {"type": "string", "enum": ["0", "0s", "1ms"]}
    for parameter in document["paths"]["/v1/records/{machine}/{key}"]["get"]["parameters"]:
        if parameter["name"] == "wait":
            parameter["schema"] = wait
    document["components"]["schemas"]["Claim"]["properties"]["wait"] = wait
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--minutes", type=float, default=1.5)
    given = arguments.parse_args()
    program = installed()
    with tempfile.TemporaryDirectory() as home:
        server, url, token = serve(given.program.resolve(), home + "/data")
        try:
            create_records(url, token)
            new = {"name": "checker", "roles": ["admin", "worker"], "act_as": True}  # so that it may name any actor
            token = fetch(url + "/v1/tokens", token, new)["token"]
            document = fetch(url + "/v1/openapi.json", token)
            validate = "import json, sys, openapi_spec_validator as v; v.validate(json.load(open(sys.argv[1])))"
            path = pathlib.Path(home) / "openapi.json"
            path.write_text(json.dumps(document))
            subprocess.run([VENV / "bin" / "python", "-c", validate, path], check=True)
            path.write_text(json.dumps(made_strict(document)))
            called = subprocess.run(
                [
                    program,
                    "--config-file",
                    ROOT / "tests" / "openapi" / "schemathesis.toml",
                    "run",
                    path,
                    "--url",
                    url,
                    "--header",
                    "Authorization: Bearer " + token,
                    "--phases",
                    "examples,coverage,fuzzing",
                    "--exclude-path",
                    "/v1/feed/live",
                    "--max-time",
                    str(int(given.minutes * 60)),
                    "--continue-on-failure",
                    "--seed",
                    os.environ.get("SEED", "1"),
                ],
                cwd=home,
            )
            healthy = server.poll() is None and fetch(url + "/readyz", token)["ready"]
            operations = sum(len(methods) for methods in document["paths"].values()) - 1
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    if called.returncode != 0 or not healthy or server.returncode != 0:
        sys.exit(f"openapi: not as the document says (server: {server.returncode})")
    print(f"{operations} routes answered as the document says")


if __name__ == "__main__":
    main()
