#!/usr/bin/env python3
"""Whether the JSON Schema and the reader agree: schema_agrees.py PAWL SOURCE_DIR

Every machine file in tests/model/cases is read as YAML and held against `pawl schema`. What is not of the right form for the reader (findings
of the kind `form` in src/model/finding_ids.cc) is not valid by the schema, line by line, and everything else is. Files with findings of the kind
`text` never become a tree, and are left out. All of machines/ is valid.

Two things a schema cannot know, so no case has them: a key with nothing after it is null by then (`failure:`), and how long a duration may be.
"""

import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import jsonschema
import yaml

JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
WORDS = {"true": True, "false": False, "null": None, "": None}


class Loader(yaml.SafeLoader):
    """YAML as the reader has it: plain scalars are true, false, null, JSON's numbers, or text."""

    yaml_implicit_resolvers = {}

    def construct_plain(self, node):
        text = node.value
        if node.style is not None:
            return text
        if text in WORDS:
            return WORDS[text]
        if JSON_NUMBER.fullmatch(text):
            return int(text) if text.lstrip("-").isdigit() else Decimal(text)
        return text

    def construct_map(self, node):
        # The keys of JSON are texts.
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


Loader.add_constructor("tag:yaml.org,2002:str", Loader.construct_plain)
Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_map)


def read_cases(path):
    """Yields (where, text of the machine file, recorded findings); cases_test.cc has the format."""
    where, section, text, findings = None, None, [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("title: "):
            if where:
                yield where, "\n".join(text), findings
            where, section, text, findings = f"{path.name}:{number}: {line[7:]}", None, [], []
        elif line in ("file:", "findings:"):
            section = line
        elif section == "file:" and (not line or line.startswith("  ")):
            text.append(line[2:])
        elif section == "findings:" and line.startswith("  "):
            findings.append(line[2:])
    if where:
        yield where, "\n".join(text), findings


def kinds_of_findings(source):
    """From the table in C++: its only copy."""
    table = (source / "src/model/finding_ids.cc").read_text(encoding="utf-8")
    kinds = dict(re.findall(r'^    \{"(\w+)",\s+(\w+),', table, re.MULTILINE))
    known = {"text", "form", "meaning", "warning", "applying", "serving", "piping"}
    assert set(kinds.values()) == known, "the table in finding_ids.cc looks different now"
    return kinds


def leaves(errors):
    """What is wrong in each of the alternatives, too."""
    for error in errors:
        yield error
        yield from leaves(error.context)


def node_at(node, path):
    for step in path:
        if isinstance(node, yaml.MappingNode):
            node = next(value for key, value in node.value if key.value == step)
        else:
            node = node.value[step]
    return node


def lines_of(error, root):
    """The lines the schema complains about: of the value, or of the keys that are unknown, misnamed or too many."""
    node = node_at(root, error.absolute_path)
    if not isinstance(node, yaml.MappingNode):
        return {node.start_mark.line + 1}
    keys = [key for key, _ in node.value]
    if isinstance(error.instance, str):  # of propertyNames: it is the key
        keys = [key for key in keys if key.value == error.instance]
    elif error.validator == "additionalProperties":
        keys = [key for key in keys if key.value not in error.schema["properties"]]
    elif error.validator != "not":
        return {node.start_mark.line + 1}
    return {key.start_mark.line + 1 for key in keys}


def disagreements_of(validator, text, findings, kinds):
    """What the schema says otherwise than the reader; findings are (line, id)."""
    errors = list(validator.iter_errors(yaml.load(text, Loader)))
    form = [(line, id) for line, id in findings if kinds[id] == "form"]
    if errors and not form:
        worst = jsonschema.exceptions.best_match(errors)
        return [f"not valid, and the reader reads it: {worst.json_path}: {worst.message}"]
    root = yaml.compose(text, Loader)
    lines = set().union(*(lines_of(error, root) for error in leaves(errors))) if errors else set()
    return [f"line {line}: the reader says {id}, the schema nothing" for line, id in form if line not in lines]


def main():
    pawl, source = sys.argv[1], Path(sys.argv[2])
    printed = subprocess.run([pawl, "schema"], check=True, capture_output=True, text=True).stdout
    schema = json.loads(printed, parse_float=Decimal)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    kinds = kinds_of_findings(source)

    compared, lines, skipped, disagreements = 0, 0, 0, []
    for path in sorted((source / "tests/model/cases").glob("*.txt")):
        for where, text, recorded in read_cases(path):
            matches = (re.match(r"(\d+):.* \[(\w+)\]$", line) for line in recorded)
            findings = [(int(match[1]), match[2]) for match in matches if match]
            if any(kinds[id] == "text" for _, id in findings):
                skipped += 1
                continue
            compared += 1
            lines += sum(kinds[id] == "form" for _, id in findings)
            disagreements += [f"{where}: {what}" for what in disagreements_of(validator, text, findings, kinds)]

    for path in sorted((source / "machines").glob("*.yaml")):
        compared += 1
        text = path.read_text(encoding="utf-8")
        disagreements += [f"machines/{path.name}: {what}" for what in disagreements_of(validator, text, [], kinds)]

    print(f"compared {compared} machine files with {lines} findings of form; left out {skipped} that are not YAML as Pawl reads it")
    print(f"{len(disagreements)} disagreements")
    for disagreement in disagreements:
        print(f"  {disagreement}")
    return 1 if disagreements or compared < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
