"""The walls between the rooms: what an import really brings in. Import contracts are in pyproject.toml.

A contract can't see an import that was moved into a function, so a fresh interpreter does the work.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = ("torch", "tokenizers", "textual", "transformers", "accelerate", "lightning", "keras")
LOADED = f"import sys; print(*sorted(m for m in {HEAVY} if m in sys.modules))"


def loaded_by(code: str) -> set[str]:
    """Which of the heavy libraries a fresh interpreter holds after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_tutor_is_cheap_to_import():
    assert loaded_by("import tutor, tutor.cli") == set()


def test_a_command_begins_before_pydantic_is_there():
    """What is said to pydantic at the start has to be said before it is loaded."""
    code = "import sys, tutor.cli; print(*{'pydantic', 'polars', 'yaml'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_naming_the_lab_and_keeping_a_journal_load_no_torch():
    assert loaded_by("import tutor.lab, tutor.runfolder.journal") == set()


def test_a_recorder_needs_no_tokenizers():
    pytest.importorskip("torch")
    assert loaded_by("from tutor.lab import Recorder") == {"torch"}


def test_who_has_no_torch_is_told_what_to_do():
    code = "import sys; sys.modules['torch'] = None; from tutor.lab import Recorder"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: tutor's Recorder needs torch: pip install torch; "
        "for plain numbers, without it, there is tutor.runfolder.journal.Journal"
    )


def test_checking_a_run_loads_no_app_and_no_lab():
    code = """
from tutor import readers, tree, walk
walk.unattended(readers.open_run("19-break"), tree.find("phase-19"))
"""
    assert loaded_by(code) == set()


def test_rooms_of_words_and_numbers_load_no_app_and_no_lab():
    rooms = ("card", "compare", "notebook", "postmortem", "settings", "report")
    assert loaded_by("\n".join(f"import tutor.{room}" for room in rooms)) == set()


def test_the_callbacks_of_one_library_load_no_other():
    assert loaded_by("import tutor.callbacks, tutor.callbacks.folder") == set()


def test_the_app_never_loads_the_lab():
    code = """
import asyncio
from tutor import readers, tree
from tutor.ui.app import TutorApp
async def walk():
    run, asked = readers.open_run("19-break"), tree.find("phase-19")
    app = TutorApp(learner="ana", lang="en", subject=run, walked_tree=asked)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("n", "enter")
        await pilot.pause()
asyncio.run(walk())
"""
    assert loaded_by(code) & {"torch", "tokenizers"} == set()


def imports(path: Path) -> Iterator[str]:
    """What the file at `path` imports, in functions too, but for what is imported for the type checker."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    for_types = [node for node in for_types if ast.unparse(node.test) == "TYPE_CHECKING"]
    passed_over = {id(inner) for node in for_types for line in node.body for inner in ast.walk(line)}
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_screen_leads_back_to_itself_not_even_by_an_import_in_a_function():
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in (ROOT / "tutor" / "ui").rglob("*.py")
    }
    graph = {name: {found for found in imports(path) if found in files} for name, path in files.items()}
    assert "tutor.ui.screens.leaf" in graph["tutor.ui.navigation"]  # imported in a function, and seen
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
