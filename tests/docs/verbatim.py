"""Looks for the code that pages show in files that are compiled and run: every cpp and cmake block, and every yaml block
that is no file of its own (snippets.py), has to stand in one of them, line by line, however deep it is indented.

Usage: verbatim.py FILE...; those that end in .md are the pages.
"""

import re
import sys
import textwrap

BLOCK = re.compile(r"^```(?:cpp|cmake|yaml\n(?!# [a-z_]+\.yaml\n))\n?(.*?)^```$", re.MULTILINE | re.DOTALL)
DEPTHS = (0, 2, 4, 6)


def stands_in(block, text):
    return any("\n" + textwrap.indent(block, " " * depth) in "\n" + text for depth in DEPTHS)


def main(paths):
    texts = {path: open(path, encoding="utf-8").read() for path in paths}
    sources = [text for path, text in texts.items() if not path.endswith(".md")]
    failed = 0
    for page, text in texts.items():
        if not page.endswith(".md"):
            continue
        blocks = BLOCK.findall(text)
        strays = [block for block in blocks if not any(stands_in(block, source) for source in sources)]
        for block in strays:
            print(f"{page}: no file has these lines:\n{block}")
        print(f"{page}: {len(blocks)} blocks, {len(strays)} stand in no file")
        failed += len(strays) + (not blocks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
