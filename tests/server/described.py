"""Holds answers against the description of the API: all that is answered is described, with nothing besides.

Reads {"description": …, "seen": [{"method", "target", "status", "type", "body"}]} from standard input.
"""

import json
import re
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate


def close(schema):
    """Lets objects have no members but those that are described. What is put together from several has them in one place."""
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
        pattern = "".join(f"[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{[^}]*\})", path))
        yield re.compile(f"(/db/[^/]+)?{pattern}$"), item


def main():
    given = json.load(sys.stdin)
    description = given["description"]
    validate(description)
    close(description["components"]["schemas"])
    paths = list(patterns(description["paths"]))
    wrong, held = [], 0
    for seen in given["seen"]:
        path = seen["target"].split("?")[0]
        item = next((item for pattern, item in paths if pattern.match(path)), None)
        operation = (item or {}).get(seen["method"].lower())
        content_type, status = (seen["type"] or "").split(";")[0], seen["status"]
        if status == 304 or status == 0 or (status == 200 and item is None):
            continue  # Nothing is sent; or it is a file of the page.
        if status == 200:
            media = operation["responses"]["200"]["content"].get(content_type)
            if media is None:
                wrong.append(f"{seen['method']} {seen['target']}: {content_type} is not described")
                continue
            schema = media.get("schema")
        elif content_type == "application/problem+json":
            schema = {"$ref": "#/components/schemas/Problem"}
        else:
            continue  # Refused before it was read.
        if schema is None:
            continue
        validator = Draft202012Validator({**schema, "components": description["components"]})
        texts = seen["body"].splitlines() if content_type == "application/x-ndjson" else [seen["body"]]
        for text in texts:
            held += 1
            for error in list(validator.iter_errors(json.loads(text)))[:3]:
                wrong.append(f"{seen['method']} {seen['target']} ({status}): {error.json_path}: {error.message[:300]}")
    for text in wrong:
        print(f"NOT AS DESCRIBED: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
