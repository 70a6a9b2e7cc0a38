"""Preferences: kept by learner, and never in the way of a walk."""

import pytest

from tutor import preferences
from tutor.preferences import Preferences


def test_kept_and_found_again(home):
    assert preferences.read("ana") == Preferences("dark", lang="")
    preferences.write("ana", Preferences("light", lang="es"))
    assert preferences.read("ana") == Preferences("light", lang="es")
    assert preferences.read("eva") == Preferences()


@pytest.mark.parametrize("kept", ["", "no JSON", "[1]", '{"theme": 7, "lang": ["fr"]}', "\udcff"])
def test_what_cannot_be_read_is_as_usual(home, kept):
    folder = home / "learners" / "ana"
    folder.mkdir(parents=True)
    (folder / preferences.NAME).write_text(kept, errors="surrogateescape")
    assert preferences.read("ana") == Preferences()
    preferences.write("ana", Preferences("light"))
    assert preferences.read("ana") == Preferences("light")


def test_what_else_is_in_the_file_stays(home):
    folder = home / "learners" / "ana"
    folder.mkdir(parents=True)
    (folder / preferences.NAME).write_text('{"of a newer version": 1}')
    preferences.write("ana", Preferences("light"))
    assert "of a newer version" in (folder / preferences.NAME).read_text()
