"""Starts a server with each configuration that a page shows: config.py PAWL FILE...

A yaml block without a name is a configuration. Whom its channels reach is not asked: that is done at the first delivery.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from snippets import BLOCK, FILE_NAME


def main(pawl, *files):
    count = failed = 0
    for file in files:
        for kind, block in BLOCK.findall(pathlib.Path(file).read_text(encoding="utf-8")):
            if kind != "yaml" or FILE_NAME.match(block):
                continue
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                config = pathlib.Path(folder) / "serve.yaml"
                config.write_text(block, encoding="utf-8")
                command = [os.path.abspath(pawl), "serve", "--config", str(config), "--listen", "127.0.0.1:0", "--memory"]
                server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
                line = server.stdout.readline()
                server.terminate()
                errors = server.communicate()[1]
                if not line.startswith("pawl serves "):
                    failed += 1
                    print(f"{file}: a server does not start with\n{block}{errors}")
    print(f"{count} configurations in {len(files)} files, {failed} bad")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
