"""Models of a tenant's types, as TypedDicts, from its OpenAPI document.

    curl "$TILDE_URL/~acme/openapi.json" -H "Authorization: Bearer $TILDE_KEY" | python3 -m tildebase.make_models > models.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

HEAD = '''"""The types of the tenant. ``Contact`` is an entity, ``ContactDraft`` what can be written."""

from typing import Any, Literal, TypedDict, Union

'''


#: The schema of an entity that another one holds. The model of the entity serves as well.
INCLUDED = "Included"


PLAIN = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}


def models_of(document: Mapping[str, Any]) -> str:
    """The text of a module with a TypedDict for each type and its drafts."""
    schemas = document["components"]["schemas"]
    entities = [name for name, schema in schemas.items() if _is_entity(schema) and not name.startswith(INCLUDED)]
    names = [name + suffix for name in entities for suffix in ("", "Draft") if name + suffix in schemas]
    return HEAD + "\n".join(_model(name, schemas[name], schemas, set(names)) for name in names)


def _is_entity(schema: Mapping[str, Any]) -> bool:
    return any(part.get("$ref", "").endswith("/Meta") for part in schema.get("allOf", []))


def _model(name: str, schema: Mapping[str, Any], schemas: Mapping[str, Any], known: set[str]) -> str:
    parents = [schemas[part["$ref"].split("/")[-1]] for part in schema.get("allOf", [])]
    fields = {name: field for part in [*parents, schema] for name, field in part.get("properties", {}).items()}
    lines = [f'        "{field}": {_type(value, known)},' for field, value in fields.items()]
    note = [f"#: {schema['description']}"] if "description" in schema else []
    return "\n".join([*note, f"{name} = TypedDict(", f'    "{name}",', "    {", *lines, "    },", "    total=False,", ")", ""])


def _type(schema: Mapping[str, Any], known: set[str]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1].removeprefix(INCLUDED)
        return f'"{name}"' if name in known else "dict[str, Any]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(word) for word in schema['enum'])}]"
    if "anyOf" in schema:
        return _union([_type(one, known) for one in schema["anyOf"]])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _union([_type({**schema, "type": one}, known) for one in kind])
    if kind == "array":
        return f"list[{_type(schema.get('items', {}), known)}]"
    return PLAIN.get(kind or "", "Any")


def _union(names: list[str]) -> str:
    different = list(dict.fromkeys(names))
    return different[0] if len(different) == 1 else f"Union[{', '.join(different)}]"


if __name__ == "__main__":
    sys.stdout.write(models_of(json.load(sys.stdin)))
