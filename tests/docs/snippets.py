"""Runs the console snippets of the documentation and compares what they print.

In a ```console block, a line that begins with `$ ` is a command and the lines after it are what it prints, standard
error included. Usage: snippets.py PAWL FILE...; with --record the files are rewritten to what is printed.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command, folder):
    env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def replay(block, folder):
    """The block as it would look if it were recorded now, and the number of its commands."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command, folder)}" for command in commands), len(commands)


def main(arguments):
    record = "--record" in arguments
    pawl, *files = [argument for argument in arguments if argument != "--record"]
    folder = os.path.dirname(os.path.abspath(pawl))
    commands = 0
    failed = 0
    for file in files:
        text = open(file, encoding="utf-8").read()

        def check(match):
            nonlocal commands, failed
            got, count = replay(match.group(1), folder)
            commands += count
            if got != match.group(1) and not record:
                failed += 1
                print(f"{file}: expected\n{match.group(1)}but it printed\n{got}")
            return f"```console\n{got}```"

        recorded = BLOCK.sub(check, text)
        if record and recorded != text:
            open(file, "w", encoding="utf-8").write(recorded)
    print(f"{commands} commands in {len(files)} files, {failed} blocks differ")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
