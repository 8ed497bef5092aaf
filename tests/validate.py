#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds lines of JSON against a schema, and the schema against them.
  validate.py SCHEMA <LINES
Fails when a line is not what the schema says, when the schema lets a line pass that has a member
more or less, and when a member of the schema is in none of the lines."""
import copy, json, sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
seen = set()


def resolve(part):
    while "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
    return part


def meet(part, value, path):
    """Notes which members of the schema a value has."""
    part = resolve(part)
    for choice in part.get("oneOf", []):
        if jsonschema.Draft202012Validator({**choice, "$defs": schema["$defs"]}).is_valid(value):
            meet(choice, value, path)
    if isinstance(value, dict):
        for name, below in part.get("properties", {}).items():
            if name in value:
                seen.add((id(part), name))
                meet(below, value[name], path + [name])
    if isinstance(value, list) and "items" in part:
        for element in value:
            meet(part["items"], element, path)


def members(part):
    """All members of the schema."""
    if isinstance(part, dict):
        if isinstance(part.get("properties"), dict) and "type" in part:
            for name in part["properties"]:
                yield id(part), name
        for below in part.values():
            yield from members(below)
    elif isinstance(part, list):
        for below in part:
            yield from members(below)


def spoiled(value):
    """The value with a member more, and without each of its members."""
    yield {**value, "no such member": 1}
    for name in value:
        if name != "triggers":
            yield {k: v for k, v in value.items() if k != name}


lines = 0
for line in sys.stdin:
    value = json.loads(line)
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    while error and error.context:  # into the choice that was meant
        error = max(error.context, key=lambda e: len(e.absolute_path))
    if error:
        sys.exit("line %d: %s: %s" % (lines + 1, list(error.absolute_path), error.message[:300]))
    meet(schema, value, [])
    if lines == 0:
        for bad in spoiled(value):
            if validator.is_valid(bad):
                sys.exit("the schema takes a line with other members: %s" % list(bad))
    lines += 1

missing = [name for place, name in members(schema) if (place, name) not in seen]
if not lines or missing:
    sys.exit("%d lines; not in any: %s" % (lines, missing))
