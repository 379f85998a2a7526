"""Looks for every key of machine files, as the JSON Schema knows them, in docs/reference/machine.md.

Usage: keys.py PAWL PAGE
"""

import json
import re
import subprocess
import sys


def keys_of(schema):
    """The names of all properties, however deep."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("properties", {})
    return set(own) | set().union(*map(keys_of, schema.values()))


def main(pawl, page):
    schema = subprocess.run([pawl, "schema"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.MULTILINE | re.DOTALL)
    words = {word for span in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", span)}
    keys = keys_of(json.loads(schema))
    missing = sorted(keys - words)
    print(f"{len(keys)} keys, {len(missing)} are not on the page: {', '.join(missing)}")
    return 1 if missing or not keys else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
