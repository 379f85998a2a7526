"""Tries the examples of docs/reference/errors.md: the wrong one has that finding, the right one has no error and not it.

An example leaves out what is beside the point: the name, where records begin, and states where it is not about them.
Usage: findings.py PAWL PAGE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

EXAMPLE = re.compile(r"^### (\w+)\n.*?^```yaml\n# wrong\n(.*?)^# right\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATES = "states: {working: {task: work, done: over}, over: {final: true}}\ntasks: {work: {queue: work}}\n"


def whole(example):
    text = "machine: example\n" + example
    if not re.search(r"^states:", text, re.MULTILINE):
        text += STATES
    first = re.search(r"^states:\s*\{?\s*(\w+):", text, re.MULTILINE).group(1)
    return text + f"initial: {first}\n"


def findings(pawl, text):
    """Ids of what is found, and whether one of them is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([pawl, "validate", "--json", path], stdout=subprocess.PIPE, encoding="utf-8")
    found = json.loads(done.stdout)["files"][0]["findings"]
    return {finding["id"] for finding in found}, any(finding["severity"] == "error" for finding in found)


def main(pawl, page):
    with open(page, encoding="utf-8") as file:
        examples = EXAMPLE.findall(file.read())
    failed = 0
    for finding, wrong, right in examples:
        ids, _ = findings(pawl, whole(wrong))
        if finding not in ids:
            failed += 1
            print(f"{finding}: the wrong example has {sorted(ids)}\n{whole(wrong)}")
        ids, bad = findings(pawl, whole(right))
        if bad or finding in ids:
            failed += 1
            print(f"{finding}: the right example has {sorted(ids)}\n{whole(right)}")
    print(f"{len(examples)} examples, {failed} are not what they say")
    return 1 if failed or not examples else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
