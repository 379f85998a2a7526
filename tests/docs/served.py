"""Runs the console snippets of a page against a real server, and compares what they print.

The yaml files that the page shows (snippets.py) are applied at the start; `PAWL_URL` and `PAWL_TOKEN` say where the server is and
let the page in. All commands of the page are of one shell. What differs from run to run, tokens, fences and instants, is taken as equal.
A page that shows `pawl serve --memory --virtual-clock INSTANT` gets such a server, and its instants are compared.

Usage: served.py PAWL FILE...; with --record the files are rewritten to what is printed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from snippets import BLOCK, named_files

INSTANTS = (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "INSTANT")
VARIES = [(re.compile(r"\b[0-9a-f]{32}\b"), "TOKEN"), (re.compile(r'"fence":\d+'), '"fence":N')]
VIRTUAL = re.compile(r"^pawl serve (--memory --virtual-clock \S+)", re.MULTILINE)
END = "--- end of a command ---"


def steady(text, is_virtual):
    for pattern, name in VARIES + ([] if is_virtual else [INSTANTS]):
        text = pattern.sub(name, text)
    return text


class Served:
    """A server in a folder of its own, and a shell that knows it."""

    def __init__(self, pawl, folder, text):
        applied = []
        for name, content in named_files(text):
            (pathlib.Path(folder) / name).write_text(content, encoding="utf-8")
            applied += ["--apply", name]
        virtual = VIRTUAL.search(text)
        self.is_virtual = virtual is not None
        records = virtual[1].split() if virtual else ["--dir", "data"]
        command = [os.path.abspath(pawl), "serve", *records, "--listen", "127.0.0.1:0"] + applied
        self.server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8")
        url = self.server.stdout.readline().split()[-1]
        token = self.server.stdout.readline().split()[-1]
        env = dict(os.environ, PAWL_URL=url, PAWL_TOKEN=token, LC_ALL="C.UTF-8")
        self.shell = subprocess.Popen(["bash"], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, encoding="utf-8")

    def run(self, command):
        self.shell.stdin.write(f"{command}\necho '{END}'\n")
        self.shell.stdin.flush()
        printed = ""
        while not printed.endswith(END + "\n"):
            line = self.shell.stdout.readline()
            if not line:
                raise RuntimeError(f"the shell ended with: {command}")
            printed += line
        return printed[:-len(END) - 1]

    def close(self):
        self.shell.stdin.close()
        self.shell.wait()
        self.server.terminate()
        return self.server.wait()


def main(arguments):
    record = "--record" in arguments
    pawl, *files = [argument for argument in arguments if argument != "--record"]
    commands = 0
    failed = 0
    for file in files:
        text = open(file, encoding="utf-8").read()
        with tempfile.TemporaryDirectory() as folder:
            served = Served(pawl, folder, text)

            def check(match):
                nonlocal commands, failed
                kind, block = match.groups()
                if kind != "console":
                    return match.group(0)
                lines = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
                commands += len(lines)
                got = "".join(f"$ {line}\n{served.run(line)}" for line in lines)
                if steady(got, served.is_virtual) == steady(block, served.is_virtual):
                    return match.group(0)
                failed += not record
                if not record:
                    print(f"{file}: expected\n{block}but it printed\n{got}")
                return f"```{kind}\n{got}```"

            recorded = BLOCK.sub(check, text)
            if served.close() != 0:
                failed += 1
                print(f"{file}: the server did not end well")
        if record and recorded != text:
            open(file, "w", encoding="utf-8").write(recorded)
    print(f"{commands} commands in {len(files)} files, {failed} blocks differ")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
