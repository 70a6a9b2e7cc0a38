"""The walls between the rooms: what an import really brings in. Import contracts are in pyproject.toml.

A contract can't see an import that was moved into a function, so a fresh interpreter does the work.
"""

import subprocess
import sys

import pytest

LOADED = (
    "import sys; print(*sorted(m for m in ('torch', 'tokenizers', 'textual', 'plotext') if m in sys.modules))"
)


def loaded_by(code: str) -> set[str]:
    """Which of the heavy libraries a fresh interpreter holds after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_tutor_is_cheap_to_import():
    assert loaded_by("import tutor, tutor.cli") == set()


def test_checking_a_run_loads_no_app_and_no_lab():
    code = """
from tutor import readers, tree, walk
walk.unattended(readers.open_run("19-break"), tree.find("phase-19"))
"""
    assert loaded_by(code) == set()


@pytest.mark.parametrize("room", ["card", "compare", "notebook", "postmortem", "settings", "report"])
def test_rooms_of_words_and_numbers_load_no_app_and_no_lab(room: str):
    assert loaded_by(f"import tutor.{room}") == set()


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
