"""Runs the examples of the documentation that no other script of this folder runs, and fails when a page shows one that nobody does.

PAGES says for each page and kind of block who runs it: another script, or a function of this one, which raises when the example is
not as the page says. Named yaml files are snippets.py's everywhere.

Usage: rest.py PAWL
"""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap

from snippets import FILE_NAME, SOURCE, named_files

BLOCK = re.compile(r"^```([a-z]+(?: [a-z]+)?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
URL = re.compile(r"https?://(?:127\.0\.0\.1:7295|[a-z]+\.example\.org)")
STATES = "states: {working: {task: work, done: over}, declined: {final: true}, over: {final: true}}\ntasks: {work: {queue: work}}\n"


class Folder:
    """Where one example is tried: the program is found there, and no variable of who runs this."""

    def __init__(self, pawl, path, page):
        self.pawl = os.path.abspath(pawl)
        self.path = pathlib.Path(path)
        self.page = page
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("PAWL_")}
        self.env |= {"PATH": os.path.dirname(self.pawl) + os.pathsep + self.env["PATH"], "XDG_CONFIG_HOME": path}

    def run(self, command, **env):
        done = subprocess.run(["bash", "-c", command], cwd=self.path, env=self.env | env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=300)
        assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


class Server:
    """One that keeps nothing, until the end of the block."""

    def __init__(self, folder):
        command = [folder.pawl, "serve", "--memory", "--listen", "127.0.0.1:0", "--log-level", "error"]
        self.process = subprocess.Popen(command, cwd=folder.path, env=folder.env, stdout=subprocess.PIPE, encoding="utf-8")
        self.url = self.process.stdout.readline().split()[-1]
        self.token = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()


def call(folder, block):
    """A command with curl, as it stands there but for the address."""
    with Server(folder) as server:
        reply = folder.run(f"set -o pipefail; {URL.sub(server.url, block)}", PAWL_TOKEN=server.token)
        assert "items" in json.loads(reply[reply.index("{"):]), reply


def profiles(folder, block):
    """Each profile lets a verb in, once its address and its token are those of a server that is there."""
    with Server(folder) as server:
        block = re.sub(r"pawl_[0-9a-f]{32}", server.token, URL.sub(server.url, block))
        folder.write("pawl/profiles.yaml", block).chmod(0o600)
        folder.write("pawl/token", server.token)
        variables = {name: server.token for name in re.findall(r"token_env: (\w+)", block)}
        names = re.findall(r"^(\w+):", block, re.MULTILINE)
        assert len(names) == block.count(server.url), block
        for name in names:
            counted = folder.run(f"pawl list --json --profile {name}", **variables)
            assert json.loads(counted)["items"] == [], counted


def shell(folder, block):
    folder.run(block)


def piece(folder, block):
    """A part of a machine file, in a machine around it."""
    first = re.search(r"^(\w+):", block, re.MULTILINE)[1]
    machine = "machine: example\ninitial: working\n"
    if first == "scenarios":  # of the machine that the page begins with
        name, text = named_files(folder.page)[0]
        folder.write(name, text + block)
        played = folder.run(f"pawl simulate {name} --quiet")
        assert re.search(r"^\d+ scenarios?: \d+ passed, 0 failed$", played, re.MULTILINE), played
        return
    if first == "machine":  # its beginning
        machine = re.sub("(?m)^initial: .*$", "initial: working", block) + STATES
    elif first == "planned":
        machine += "schedule: {rrule: FREQ=DAILY}\nstates:\n  working:\n" + textwrap.indent(block, "    ")
        machine += "    on: {end: over}\n  over: {final: true}\n"
    elif first == "migrate":
        machine += "version: 3\ndata: {cancel_asked: bool}\n" + block + STATES.replace("working", "paying")
        machine = machine.replace("initial: working", "initial: paying")
    else:
        machine += block + STATES
    folder.write("example.yaml", machine)
    try:
        folder.run("pawl validate example.yaml")
    except AssertionError as wrong:
        raise AssertionError(f"{wrong}\n{machine}") from None


def query(folder, block):
    """What is asked of the tables with the shell of SQLite, of a store with one record."""
    shutil.copytree(SOURCE / "machines", folder.path / "machines")
    folder.run("pawl init; pawl apply machines/*.yaml; pawl create order/17 --data '{\"amount\": 12}'")
    sql = re.search(r'"(SELECT .*)"$', block, re.MULTILINE)[1]
    with sqlite3.connect(folder.path / "pawl-data" / "tables.db") as tables:
        rows = tables.execute(sql).fetchall()
    assert [row[:2] for row in rows] == [("17", "new")], rows


def measured(folder, block):
    """Figures differ from machine to machine; the words do not. A damaged store is what tests/store_sqlite has."""
    if block.startswith("$ pawl verify "):
        return
    command, shown = block.split("\n", 1)
    printed = folder.run(command[2:] + " --sleeping 10 --seconds 0.2")

    def words(text):
        return re.sub(r"in \S+;|[\d.]+", "N", text)

    assert words(printed) == words(shown), printed


def pipe_file(folder, block):
    """The file of a pipe: nothing is wrong with it but that nobody is there."""
    folder.write("events.yaml", block)
    secrets = {name: "x" for name in re.findall(r"env:(\w+)", block)}
    checked = json.loads(folder.run("pawl pipe check events.yaml --json --messages 0 --timeout 200ms || true", **secrets))
    assert [finding for finding in checked["files"][0]["findings"] if "line" in finding] == [], checked


def pipe_verbs(folder, block):
    """Verbs on the first pipe of the page, whose servers are not there: they are used as they can be, and say so."""
    folder.write("events.yaml", next(text for kind, text in BLOCK.findall(folder.page) if kind == "yaml"))
    for command in block.splitlines():
        command = command.split("#")[0]
        status = folder.run(f"{command} --timeout 200ms >said 2>&1; echo $?").strip()
        assert status in ("1", "3"), f"{command}: exit code {status}\n{folder.run('cat said')}"


def json_value(_, block):
    json.loads(block)


CODE = {"cpp": "verbatim.py", "cmake": "verbatim.py", "yaml": "verbatim.py", "console": "snippets.py"}
PAGES = {
    "README.md": {"console served": "newcomer.sh", "sh": "newcomer.sh", "mermaid": "snippets.py", "yaml": "verbatim.py"},
    "docs/guides/editor.md": {"console": "snippets.py", "sh": shell, "yaml": piece},
    "docs/guides/embed.md": CODE | {"sh": "tests/package"},
    "docs/guides/pipe.md": {"sh": pipe_verbs, "yaml": pipe_file},
    "docs/guides/pipe_from_others.md": {"yaml": pipe_file},
    "docs/guides/testing.md": {"console": "served.py", "sh": "served.py"},
    "docs/guides/workers.md": {"console": "served.py"},
    "docs/internals/storage.md": {"text": query},
    "docs/reference/api.md": {"console": "served.py"},
    "docs/reference/cli.md": {"console": "snippets.py", "sh": call, "yaml": profiles, "text": measured},
    "docs/reference/errors.md": {"yaml": "findings.py", "text": "a form, and nothing to run"},
    "docs/reference/machine.md": {"console": "snippets.py", "yaml": piece},
    "docs/reference/pipe.md": {"json": json_value, "yaml": pipe_file},
    "docs/reference/recurrence.md": {"console": "snippets.py"},
    "docs/reference/server.md": {"yaml": "config.py"},
    "docs/start.md": {"console": "newcomer.sh", "mermaid": "newcomer.sh", "sh": "newcomer.sh"},
}


def tried(pawl, page, kind, block):
    """What is wrong, or nothing."""
    if kind == "yaml" and FILE_NAME.match(block):
        return ""
    runs = PAGES.get(page, {}).get(kind)
    if runs is None:
        return "nothing runs it: see PAGES"
    if isinstance(runs, str):
        return ""
    try:
        with tempfile.TemporaryDirectory() as path:
            runs(Folder(pawl, path, (SOURCE / page).read_text(encoding="utf-8")), block)
    except (AssertionError, ValueError, TypeError, IndexError) as wrong:
        return str(wrong)
    return ""


def main(pawl):
    count = failed = 0
    for file in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("**/*.md"))]:
        page = str(file.relative_to(SOURCE))
        text = file.read_text(encoding="utf-8")
        blocks = BLOCK.findall(text)
        if 2 * len(blocks) != len(re.findall("^```", text, re.MULTILINE)):
            failed += 1
            print(f"{page}: a block does not say of which kind it is")
        for kind, block in blocks:
            count += 1
            if wrong := tried(pawl, page, kind, block):
                failed += 1
                print(f"{page}: {wrong}\n{block}")
    print(f"{count} blocks, {failed} are not as they say")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
