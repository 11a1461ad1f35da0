"""Compares responses with the API description: every response must be described, and have no undescribed members.

Reads lines of JSON from standard input: {"description": its text, "seen": [{"method", "target", "status", "type",
"body"}]}. Writes the list of differences for each line. One process serves all tests, so that each description is
checked only once.
"""

import functools
import json
import re
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate


def close(schema):
    """Forbids undescribed members in objects."""
    if isinstance(schema, list):
        for one in schema:
            close(one)
    elif isinstance(schema, dict):
        for one in schema.values():
            close(one)
        if schema.get("type") == "object" and "properties" in schema and "additionalProperties" not in schema:
            schema["unevaluatedProperties"] = False


def patterns(paths):
    for path, item in paths.items():
        pattern = "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", path))
        yield re.compile(f"(/db/[^/]+)?{pattern}$"), item


@functools.cache
def read(text):
    """The parts of a validated description."""
    description = json.loads(text)
    validate(description)
    close(description["components"]["schemas"])
    return list(patterns(description["paths"])), description["components"]


def differences(given):
    paths, components = read(given["description"])
    for seen in given["seen"]:
        request = f"{seen['method']} {seen['target']}"
        path = seen["target"].split("?")[0]
        item = next((item for pattern, item in paths if pattern.match(path)), None)
        content_type, status = (seen["type"] or "").split(";")[0], seen["status"]
        if status == 304 or status == 0 or (status == 200 and item is None):
            continue  # No body, or a file of the page.
        if status == 200:
            media = item.get(seen["method"].lower(), {}).get("responses", {}).get("200", {}).get("content", {}).get(content_type)
            if media is None:
                yield f"{request}: {content_type} is not described"
                continue
            schema = media.get("schema")
        elif content_type == "application/problem+json":
            schema = {"$ref": "#/components/schemas/Problem"}
        else:
            continue  # Rejected before the request was read.
        if schema is None:
            continue
        validator = Draft202012Validator({**schema, "components": components})
        for text in seen["body"].splitlines() if content_type == "application/x-ndjson" else [seen["body"]]:
            for error in list(validator.iter_errors(json.loads(text)))[:3]:
                yield f"{request} ({status}): {error.json_path}: {error.message[:300]}"


for line in sys.stdin:
    print(json.dumps(list(differences(json.loads(line)))), flush=True)
