"""Looks for the code that pages show in files that are compiled and run: every cpp and cmake block, and every yaml block
that is no file of its own (snippets.py), has to stand in one of them, line by line, however deep it is indented. A line
`# …` stands for lines that are left out.

Usage: verbatim.py FILE...; those that end in .md are the pages.
"""

import re
import sys
import textwrap

BLOCK = re.compile(r"^```(?:cpp|cmake|yaml\n(?!# [a-z_]+\.yaml\n))\n?(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"^ *# …\n", re.MULTILINE)
DEPTHS = (0, 2, 4, 6)


def stands_in(block, text):
    return any(all_in_order(LEFT_OUT.split(textwrap.indent(block, " " * depth)), "\n" + text) for depth in DEPTHS)


def all_in_order(pieces, text):
    at = 0
    for piece in pieces:
        at = text.find("\n" + piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


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
