"""Prints the JSON Schema of `tutor check --json`: python -m tutor.reported > docs/check.schema.json."""

from tutor import terminal
from tutor.reported.keys import schema

terminal.tell_json(schema())
