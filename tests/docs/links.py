"""Checks that every relative link of the documentation leads to a file that exists, and to a heading that it has: links.py

Links to other sites are not followed. A heading is found by the anchor that GitHub makes of it.
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md")]
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(page):
    """Those of a page's headings; of two equal ones the second ends in -1."""
    found = set()
    for heading in HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = 0
        while (name := f"{anchor}-{count}" if count else anchor) in found:
            count += 1
        found.add(name)
    return found


def wrong_links(page):
    """What is wrong with each link that leads nowhere."""
    prose = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for link in LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
            yield f"{link}: no such heading"


def main():
    failed = 0
    for page in sorted(PAGES):
        for wrong in wrong_links(page):
            failed += 1
            print(f"{page.relative_to(SOURCE)}: {wrong}")
    print(f"{len(PAGES)} pages, {failed} links lead nowhere")
    return 1 if failed or not PAGES else 0


if __name__ == "__main__":
    sys.exit(main())
