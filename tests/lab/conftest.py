"""Where torch isn't installed, there is no lab to test."""

from importlib.util import find_spec
from pathlib import Path

import pytest

if not (find_spec("torch") and find_spec("tokenizers")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny run, trained once."""
    from tests.lab.small import recipe
    from tutor.lab.loop import train

    out = tmp_path_factory.mktemp("runs") / "tiny"
    train(recipe(), out=out)
    return out
