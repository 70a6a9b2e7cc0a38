"""A question of which the run recorded nothing says so; one key goes on to the next that it can answer."""

from pathlib import Path

import pytest

from tests.ui.conftest import SIZES, opened, over, shown


@pytest.fixture
def rewards(home: Path) -> Path:
    """What stable-baselines3's Monitor writes: rewards, and no loss. They rise."""
    path = home / "monitor.csv"
    rows = "".join(f"{20 + i + i % 9},{30 + i % 5},{i}.5\n" for i in range(400))
    path.write_text('#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}\nr,l,t\n' + rows)
    return path


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("lang", "lacks", "key"),
    [("en", "did not record loss", "pass over"), ("es", "no registró loss", "pasar por alto")],
)
async def test_one_key_leads_to_what_the_log_can_answer(rewards, size, lang, lacks, key):
    app = over(rewards, lang)
    async with opened(app, size) as pilot:
        assert lacks in shown(app)
        assert "5.3" in shown(app)  # where the key leads
        assert f"p {key}" in shown(app)
        await pilot.press("p")
        await pilot.pause()
        assert app.screen.walk.at == "5.3"
        assert lacks not in shown(app)
        assert not app.screen.check_action("pass_over", ())
        await pilot.press("b")
        await pilot.pause()
        assert app.screen.walk.at == "5.7"  # one may still look at each


async def test_what_was_passed_over_is_no_guess(rewards):
    app = over(rewards)
    async with opened(app, SIZES[0], "p"):
        assert all(answer.prediction is None for answer in app.screen.walk.answers)
