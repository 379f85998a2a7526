"""Walks through pages as a newcomer does: types every command, in order, in one shell and one folder, beside one server.

A ```sh block holds commands: `make run` starts the server, by the given command, and starts it again when it was killed; `make test` is
left out; an `export` is replaced by the one that the server prints. A ```yaml block whose first line is `# name.yaml` is saved under that name when it is reached. In a
```console block, a line that begins with `$ ` is a command, and the lines after it are what it prints; once a command runs in the
background, they may come in another order. Instants, tokens and who does it differ from run to run, but not
in simulations. A ```mermaid block is the
picture of a file (snippets.py), or what the last `pawl simulate` before it prints with --gantt.

Usage: walk.py [--record] FOLDER COMMAND PAGE...; with --record the pages are rewritten to what is printed.
"""

import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading

from snippets import FILE_NAME, picture_of

BLOCK = re.compile(r"^```(console|console served|mermaid|sh|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = [(re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]+Z?"), "INSTANT"), (re.compile(r"\bpawl_[0-9a-f]{32}\b"), "TOKEN"),
          (re.compile(r"  \[[^]]+\]$", re.MULTILINE), "  [ACTOR]")]
END = "--- end of a command ---"
SECONDS_TO_BUILD, SECONDS_TO_START, SECONDS_TO_PRINT = 1800, 60, 60


def steady(text, is_in_order=True):
    if "pawl simulate " in text or text.startswith("gantt"):  # on a virtual clock
        return text
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return text if is_in_order else "\n".join(sorted(text.splitlines()))


class Lines:
    """What a process prints, line by line, with a limit to how long one waits."""

    def __init__(self, stream):
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in stream], daemon=True).start()

    def next(self, seconds):
        return self.lines.get(timeout=seconds)


class Walk:
    def __init__(self, folder, serve):
        self.folder = pathlib.Path(folder)
        self.serve = serve
        self.server = None
        self.simulation = None
        self.in_background = False
        self.commands = 0
        self.complaints = []
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("PAWL_")}
        self.env |= {"LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.folder)}
        self.shell = subprocess.Popen(["bash"], cwd=folder, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, encoding="utf-8")
        self.printed = Lines(self.shell.stdout)

    def start_server(self):
        if self.server:
            self.server.wait(SECONDS_TO_PRINT)
        self.server = subprocess.Popen(["bash", "-c", "exec " + self.serve], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, encoding="utf-8")
        lines = Lines(self.server.stdout)
        seconds = SECONDS_TO_BUILD if self.serve.startswith("make") else SECONDS_TO_START  # a clean clone is built first
        while not (line := lines.next(seconds)).startswith("  export "):
            pass
        self.export = line.strip()

    def run(self, command, lines_expected=0):
        """What the command prints, and what commands in the background print until there are as many lines as expected."""
        self.commands += 1
        self.in_background = command.endswith(" &") or (self.in_background and not command.startswith("kill %1"))
        self.shell.stdin.write(f"{command}\necho '{END}'\n")
        self.shell.stdin.flush()
        lines = []
        has_ended = False
        try:
            while not has_ended or (self.in_background and len(lines) < lines_expected):
                line = self.printed.next(SECONDS_TO_PRINT)
                has_ended |= line == END + "\n"
                lines += [line] if line != END + "\n" else []
        except queue.Empty:
            lines.append("(and nothing more)\n")
        return "".join(lines)

    def run_shell_block(self, block):
        for command in block.splitlines():
            command = re.sub(" +#.*", "", command)
            if command == "make run" and not self.server:
                self.start_server()
            elif command == "make run":
                self.start_server()
                self.run(self.export)  # here it may have another port
            elif command.startswith("export "):
                begins = command[:command.index("PAWL_URL=")]
                if not self.export.startswith(begins):
                    self.complaints.append(f"`make run` prints {self.export}, and not {command}")
                self.run(self.export)
            elif command != "make test":  # this is part of it
                self.run(command)

    def replay(self, kind, block, before):
        """The block as it would look if it were recorded now."""
        if kind == "sh":
            self.run_shell_block(block)
            return block
        if kind == "yaml":
            if name := FILE_NAME.match(block):
                (self.folder / name[1]).write_text(block, encoding="utf-8")
            return block
        if kind == "mermaid":
            if not self.server:  # the program is not there yet; snippets.py draws these
                return block
            return self.run(f"{self.simulation} --gantt" if block.startswith("gantt")
                            else f"pawl graph --format mermaid {picture_of(before)}")
        got = ""
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, expected = shown.split("\n", 1)
            if command.startswith("pawl simulate "):
                self.simulation = command.removesuffix(" --quiet")
            got += f"$ {command}\n{self.run(command, expected.count(chr(10)))}"
        return got

    def close(self):
        self.run("kill $(jobs -p) 2>/dev/null; wait" if self.in_background else "true")
        self.shell.stdin.close()
        self.shell.wait()
        if self.server:
            os.kill(int((self.folder / "pawl-data" / "pawl.lock").read_text()), signal.SIGTERM)  # `make` may stand in between
            if self.server.wait(SECONDS_TO_PRINT) != 0:
                self.complaints.append(f"the server ended with {self.server.returncode}")


def main(arguments):
    record = "--record" in arguments
    folder, serve, *pages = [argument for argument in arguments if argument != "--record"]
    walk = Walk(folder, serve)
    for page in pages:
        text = pathlib.Path(page).read_text(encoding="utf-8")

        def check(match):
            kind, block = match.groups()
            was_in_background = walk.in_background
            got = walk.replay(kind, block, text[:match.start()])
            is_in_order = not (was_in_background or walk.in_background)
            if steady(got, is_in_order) == steady(block, is_in_order):
                return match.group(0)
            if not record:
                walk.complaints.append(f"{page}: expected\n{block}but it printed\n{got}")
            return f"```{kind}\n{got}```"

        recorded = BLOCK.sub(check, text)
        if record and recorded != text:
            pathlib.Path(page).write_text(recorded, encoding="utf-8")
    walk.close()
    print("\n".join(walk.complaints + [f"{walk.commands} commands in {len(pages)} pages, {len(walk.complaints)} complaints"]))
    return 1 if walk.complaints or not walk.commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
