"""Docstrings of the fields of a model or a TypedDict, for the JSON schema and tables of keys.

Pydantic can read them when a model is defined, which would delay the start of every job.
"""

import ast
import inspect
import textwrap

from nlobayes.untyped import Document


def describe(schema: Document, model: type) -> None:
    """Add the meaning of each field of a model to its schema."""
    properties = schema.get("properties", {})
    for field, meaning in meanings(model).items():
        if field in properties:
            properties[field]["description"] = meaning


def meanings(model: type) -> dict[str, str]:
    """Collect the strings below the fields of a model and of its bases in this package."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith("nlobayes."):
            found |= _strings_below_fields(base)
    return found


def _strings_below_fields(model: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    below: dict[str, str] = {}
    for field, after in zip(definition.body, definition.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(s))
            ):
                below[name] = inspect.cleandoc(s)
    return below
