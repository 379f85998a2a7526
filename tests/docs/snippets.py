"""Runs the console snippets of the documentation and compares what they print.

In a ```console block, a line that begins with `$ ` is a command and the lines after it are what it prints, standard
error included. A ```yaml block whose first line is `# name.yaml` is a file of that name, there for all commands of its
page; so are the folders `examples` and `machines`. A ```mermaid block is the picture of the last such file before it, or of the
last file of `machines` that the page links to before it; one that begins with `gantt`, what the last `pawl simulate` before it
prints with --gantt.

Usage: snippets.py PAWL FILE...; with --record the files are rewritten to what is printed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(console|mermaid|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([a-z_]+\.yaml)\n")
MACHINE = re.compile(r"^```yaml\n# ([a-z_]+\.yaml)$|\((machines/[a-z_]+\.yaml)\)", re.MULTILINE)


def named_files(text):
    """Pairs of name and content of the files that a page shows."""
    blocks = [match.group(2) for match in BLOCK.finditer(text) if match.group(1) == "yaml"]
    named = [(FILE_NAME.match(block), block) for block in blocks]
    return [(name.group(1), block) for name, block in named if name]


def picture_of(before):
    """The file that a picture after this text is of."""
    named, linked = MACHINE.findall(before)[-1]
    return named or linked


class Page:
    """Runs the commands of one page in a folder of its own."""

    def __init__(self, pawl, folder, text):
        self.pawl = os.path.dirname(os.path.abspath(pawl))
        self.folder = pathlib.Path(folder)
        self.simulation = None
        self.commands = 0
        for name in ("examples", "machines"):
            (self.folder / name).symlink_to(SOURCE / name)
        for name, content in named_files(text):
            (self.folder / name).write_text(content, encoding="utf-8")

    def run(self, command):
        self.commands += 1
        self.simulation = command if command.startswith("pawl simulate ") else self.simulation
        env = {name: value for name, value in os.environ.items() if not name.startswith("PAWL_")}
        env = dict(env, XDG_CONFIG_HOME=str(self.folder), PATH=self.pawl + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        return done.stdout

    def replay(self, kind, block, before):
        """The block as it would look if it were recorded now."""
        if kind == "yaml":
            return block
        if kind == "mermaid" and block.startswith("gantt"):
            return self.run(f"{self.simulation} --gantt")
        if kind == "mermaid":
            return self.run(f"pawl graph --format mermaid {picture_of(before)}")
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{self.run(command)}" for command in commands)


def main(arguments):
    record = "--record" in arguments
    pawl, *files = [argument for argument in arguments if argument != "--record"]
    commands = 0
    failed = 0
    for file in files:
        text = open(file, encoding="utf-8").read()
        with tempfile.TemporaryDirectory() as folder:
            page = Page(pawl, folder, text)

            def check(match):
                nonlocal failed
                kind, block = match.groups()
                got = page.replay(kind, block, text[:match.start()])
                if got != block and not record:
                    failed += 1
                    print(f"{file}: expected\n{block}but it printed\n{got}")
                return f"```{kind}\n{got}```"

            recorded = BLOCK.sub(check, text)
            commands += page.commands
        if record and recorded != text:
            open(file, "w", encoding="utf-8").write(recorded)
    print(f"{commands} commands in {len(files)} files, {failed} blocks differ")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
