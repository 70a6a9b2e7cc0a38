"""The commands as a user types them: what they print, their exit codes, and bad input in one clear line."""

import asyncio
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.conftest import ROOT, write_run
from tutor import preferences, readers, tree, walk
from tutor.cli import app
from tutor.run import called
from tutor.ui.files import Files
from tutor.ui.keeper import Keeper
from tutor.words import say

GOOD = [{"step": i, "loss": 2.0 - i / 1000 + (0.02 if i % 2 else -0.02)} for i in range(300)]


def tutor(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `tutor WORDS`."""
    done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def refused(*words: str) -> str:
    """The one line that `tutor WORDS` refuses with."""
    code, out, err = tutor(*words)
    assert (code, out) == (2, "")
    assert err.startswith("tutor: ")
    assert err.count("\n") == 1
    return err


class TestHelp:
    def test_grouped_with_examples(self):
        code, out, _ = tutor("--help")
        assert code == 0
        for words in ("Learn", "Without the app", "Train and content", "Examples:", "--install-completion"):
            assert words in out

    def test_completion_is_installed_for_tutor_however_it_is_called(self, tmp_path: Path):
        told = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        command = [sys.executable, "-m", "tutor", "--install-completion", "bash"]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=os.environ | told)
        [script] = (tmp_path / ".bash_completions").iterdir()
        assert script.read_text().splitlines()[-1].endswith("_tutor_completion tutor")

    @pytest.mark.parametrize("command", ["walk", "check", "compare", "train", "lessons", "breaks", "trees"])
    def test_every_command_has_help(self, command: str):
        code, out, _ = tutor(command, "--help")
        assert code == 0
        assert "Example" in out or command == "trees"

    def test_version(self):
        code, out, _ = tutor("--version")
        assert (code, out) == (0, "tutor 0.1.0\n")

    def test_an_unknown_command_is_refused(self):
        code, _, err = tutor("wlak")
        assert code == 2
        assert "walk" in err


class TestCheck:
    def test_exit_codes_over_the_shipped_runs(self, home: Path):
        assert tutor("check", "19-control")[0] == 0
        assert tutor("check", "19-break")[0] == 1
        assert tutor("check", "19-control", "19-break")[0] == 1
        assert tutor("check", "19-control", "nowhere")[0] == 2

    def test_says_value_bound_and_step(self, home: Path):
        _, out, _ = tutor("check", "19-break", "--lang", "en")
        for words in ("at step 312", "bound", "tutor train --break no-clip"):
            assert words in out

    def test_spanish(self, home: Path):
        _, out, _ = tutor("check", "19-break", "--lang", "es")
        assert "en el paso 312" in out
        assert "arreglo más pequeño" in out

    def test_what_is_said_before_a_command_holds_for_it(self, home: Path):
        _, out, _ = tutor("--lang", "es", "check", "19-break")
        assert "en el paso 312" in out
        _, out, _ = tutor("--lang", "es", "check", "19-break", "--lang", "en")
        assert "at step 312" in out
        assert "eva has no lessons" in tutor("--learner", "eva", "lessons", "--lang", "en")[1]

    def test_json(self, home: Path):
        code, out, _ = tutor("check", "19-control", "19-break", "--json")
        first, second = json.loads(out)
        assert (code, first["verdict"], second["verdict"]) == (1, "healthy", "flaw")
        assert (first["leaf"]["id"], second["leaf"]["id"]) == ("healthy", "unclipped-batch")
        assert [question["id"] for question in second["questions"]][:3] == ["1.1", "1.4", "2.1"]
        assert {"2.5", "3.1", "4.1", "5.1", "5.3", "5.4", "5.5"} <= {q["id"] for q in first["questions"]}
        assert first["assumed"] == first["too_early"] == []

    def test_json_is_strict_whatever_the_log_holds(self, home: Path):
        rows = [*GOOD, {"step": 300, "loss": float("nan")}, {"step": 301, "loss": float("inf")}]
        write_run(home / "r", rows, {"dtype": "fp32"})

        def no(constant: str) -> None:
            raise AssertionError(constant)

        code, out, _ = tutor("check", "r", "--json")
        data = json.loads(out, parse_constant=no)
        assert (code, data[0]["verdict"], data[0]["questions"][0]["facts"]["value"]) == (
            1,
            "flaw",
            "NaN",
        )

    def test_a_bad_run_among_good_ones_keeps_the_good(self, home: Path):
        code, out, err = tutor("check", "nowhere", "19-control", "--lang", "en")
        assert (code, err.count("\n")) == (2, 1)
        assert f"[ok] {tree.find('phase-19').leaves['healthy'].name('en')}" in out

    def test_of_a_folder_sealed_runs_are_left_out_unless_they_are_named(self, home: Path):
        write_run(home / "many/a", GOOD, {"sealed": True})
        write_run(home / "many/b", GOOD, {})
        _, out, err = tutor("check", "many", "--lang", "en")
        assert ("many/a" in out, "many/b" in out) == (False, True)
        assert err.startswith("sealed, and so left out: a; ")
        assert err.count("\n") == 1
        _, out, err = tutor("check", "many", "--json")
        assert [one["run"] for one in json.loads(out)] == ["many/b"]
        for named in ("many/a", "many/a/metrics.jsonl"):
            _, out, err = tutor("check", named)
            assert ("many/a" in out, err) == (True, "")

    def test_a_folder_of_nothing_but_sealed_runs_is_no_healthy_one(self, home: Path):
        write_run(home / "many/a", GOOD, {"sealed": True})
        assert tutor("check", "many")[0] == 2

    def test_a_short_run_is_undecided_not_healthy(self, home: Path):
        write_run(home / "r", GOOD[:60], {"dtype": "fp32"})
        code, out, _ = tutor("check", "r", "--lang", "en")
        assert code == 3
        assert "undecided: nothing was found, and the log can't answer 9 of the questions" in out
        assert "phase-18, not answered by the log: the first gradient? (1.2), " in out
        assert "more rows the log could answer: has the loss risen? (phase-19 4.1)" in out
        assert json.loads(tutor("check", "r", "--json")[1])[0]["verdict"] == "undecided"

    def test_undecided_says_what_to_record_and_is_no_exit_code_of_health(self, home: Path):
        write_run(home / "r", GOOD, {"dtype": "fp32"})
        code, out, _ = tutor("check", "r", "--lang", "en")
        assert code == 3
        for signal in ("grad_norm", "val_loss"):
            assert f"to settle it, record {signal}:" in out
        assert tutor("check", "19-control", "r")[0] == 3
        assert tutor("check", "r", "nowhere")[0] == 2
        assert tutor("check", "nowhere", "19-break", "r")[0] == 1, "what is wrong with one is never hidden"

    def test_a_symptom_without_a_cause_is_something_wrong(self, home: Path):
        write_run(home / "r", [*GOOD, {"step": 300, "loss": float("nan")}], {"dtype": "fp32"})
        code, out, _ = tutor("check", "r", "--json")
        found = json.loads(out)[0]
        assert (code, found["verdict"], found["leaf"]) == (1, "flaw", None)

    def test_what_is_wrong_without_a_name_says_which_answer_would_name_it(self, home: Path):
        write_run(home / "r", [*GOOD, {"step": 300, "loss": float("nan")}], {})
        code, out, _ = tutor("check", "r", "--lang", "en")
        assert code == 1
        assert "[!!] NaN or Inf? yes, at step 300; the log can't say why: question 1.2 decides" in out
        assert "1.1: yes: the loss is NaN at step 300" in out
        assert "for this run now: stop; go on from before step 300" in " ".join(out.split())
        assert "1.2: Which dtype did the run use in its forward pass? (fp32, bf16, fp16)" in out

    def test_what_was_passed_over_is_said(self, home: Path):
        folder = write_run(home / "r", GOOD, {})
        with (folder / "metrics.jsonl").open("a") as log:
            log.write('{"step": 300, "l')
        code, out, _ = tutor("check", "r")
        assert code == 3
        assert "cut short" in out

    def test_markup_and_escape_codes_are_text(self, home: Path):
        write_run(home / "r", GOOD, {"name": "[red]x\x1b[31m", "dtype": "fp32"})
        _, out, _ = tutor("check", "r")
        assert "\x1b" not in out


class TestBadInput:
    """Each is one clear line with a way out."""

    def test_an_unknown_run(self, home: Path):
        assert "did you mean" in refused("walk", "runs/19-brek")
        assert re.search(r"did you mean \S*case-03\b", refused("walk", "case-3").replace("\n", ""))
        assert "no run is named" in refused("check", "")
        assert "did you mean" in refused("compare", "runs/19-brek", "19-break")

    def test_an_unknown_tree_and_a_broken_one(self, home: Path):
        assert "did you mean phase-19" in refused("walk", "19-break", "--tree", "phase-9")
        (home / "my.yaml").write_text("tree: mine\nstart: ]\n")
        assert "my.yaml:2" in refused("check", "19-break", "--tree", "my.yaml")

    def test_an_unknown_break_and_setting(self, home: Path):
        assert "did you mean no-clip" in refused("train", "--break", "no-clp")
        assert "did you mean grad_clip" in refused("train", "--set", "grad_clp=1")
        assert "name=value" in refused("train", "--set", "grad_clip")
        assert "lr=fast" in refused("train", "--set", "lr=fast")
        assert "--break" in refused("train", "--control")

    @pytest.mark.parametrize(
        "setting",
        [f"warmup_steps={'9' * 400}", f"lr=1e{'9' * 400}", f"lr={'x' * 1000}", f"{'y' * 1000}=1", "z" * 1000],
    )
    def test_a_setting_as_long_as_a_page_is_refused_in_a_line(self, home: Path, setting: str):
        assert len(refused("train", "--set", setting)) < 600

    @pytest.mark.parametrize("name", ["../ana", "a/b", "..", "", "a\\b"])
    def test_a_learners_name_that_is_no_name(self, home: Path, name: str):
        assert "name" in refused("walk", "19-break", "--learner", name)
        assert "name" in refused("lessons", "--learner", name)

    def test_an_unknown_language(self, home: Path):
        assert "en and es" in refused("check", "19-break", "--lang", "fr")

    def test_no_terminal(self, home: Path):
        assert "tutor check runs/19-break" in refused("walk", "runs/19-break")
        assert "tutor --help" in refused()

    def test_no_terminal_to_pick_a_run_in(self, home: Path):
        assert "tutor check RUN" in refused("walk")
        assert "no tree 'phase-91'" in refused("walk", "--tree", "phase-91")

    def test_a_log_from_standard_input_where_the_keys_come_from(self, home: Path):
        assert "keep the log in a file" in refused("walk", "-")

    def test_a_newer_manifest(self, home: Path):
        write_run(home / "r", GOOD, {"format": 2})
        assert "upgrade tutor" in refused("walk", "r")


class TestLeaving:
    @pytest.mark.parametrize(("answers", "kept"), [(1, True), (30, False)])
    @pytest.mark.parametrize("given", ["mine", "mine/metrics.jsonl"])
    def test_a_walk_left_before_its_end_says_how_to_go_on(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, given: str, answers: int, kept: bool
    ):
        def opened(*, learner: str, subject: Path, walked_tree: tree.Tree, **_) -> int:
            walked = walk.begin(readers.read(subject), walked_tree)
            for _ in range(answers):
                if question := walked.question:
                    by_hand = "no" if "no" in question.outcomes else question.assume
                    walked = walk.go_on(walked, walk.look(walked), by_hand)

            async def keep() -> None:
                files = Files()
                Keeper(learner, files, pytest.fail).keep(walked)
                await files.close()

            asyncio.run(keep())
            return 0

        write_run(home / "mine", GOOD, {"dtype": "fp32", "name": "another name"})
        monkeypatch.setattr("tutor.cli._terminal", lambda instead: None)
        monkeypatch.setattr("tutor.cli._open", opened)
        (home / "mine.yaml").write_text((ROOT / "trees" / "phase-19.yaml").read_text())
        for lang in ("en", "es"):
            prose = (ROOT / "trees" / f"phase-19.{lang}.yaml").read_text()
            (home / f"mine.{lang}.yaml").write_text(prose)
        for options in ("", " --tree mine.yaml", " --learner 'Ana Li'", " --learner eva --lang es"):
            code, out, _ = tutor("walk", *shlex.split(given + options))
            assert code == 0
            assert out.endswith(f"walk {given}{options}\n") is kept

    def test_the_last_line_is_in_the_language_chosen_in_the_app(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ):
        def opened(*, learner: str, **_) -> int:
            preferences.write(learner, preferences.Preferences(lang="es"))
            return 0

        write_run(home / "mine", GOOD, {"dtype": "fp32"})
        monkeypatch.setattr("tutor.cli._terminal", lambda instead: None)
        monkeypatch.setattr("tutor.cli._open", opened)
        monkeypatch.setattr("tutor.cli.walking.left_open", lambda *_: True)
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        assert tutor("walk", "mine")[1].startswith(say("walk.kept", "es", command="")[:20])
        assert tutor("walk", "mine", "--lang", "en")[1].startswith(say("walk.kept", "en", command="")[:20])

    def test_without_a_run_there_is_a_list_to_pick_from(self, home: Path, monkeypatch: pytest.MonkeyPatch):
        opened: dict[str, object] = {}
        monkeypatch.setattr("tutor.cli._terminal", lambda instead: None)
        monkeypatch.setattr("tutor.cli._open", lambda **what: opened.update(what) or 0)
        assert tutor("walk", "--learner", "eva", "--lang", "es")[0] == 0
        assert opened == {"learner": "eva", "lang": "es", "home_tree": None}

    def test_of_several_runs_in_one_place_one_is_picked_in_the_app(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ):
        opened: dict[str, object] = {}
        monkeypatch.setattr("tutor.cli._terminal", lambda instead: None)
        monkeypatch.setattr("tutor.cli._open", lambda **what: opened.update(what) or 0)
        monkeypatch.setattr("tutor.readers.read", lambda path: None)  # only without a terminal
        rows = "".join(f"{step},2,2,1,1\n" for step in range(9))
        (home / "export.csv").write_text(f"Step,a - loss,a - loss__MIN,b - loss,b - loss__MIN\n{rows}")
        assert tutor("walk", "export.csv")[0] == 0
        assert (opened["inside"], opened["home_tree"]) == (Path("export.csv"), None)
        opened.clear()
        assert tutor("walk", "export.csv/b", "--tree", "phase-19")[0] == 0
        assert (opened["subject"], "inside" in opened) == (Path("export.csv/b"), False)


class TestTrees:
    def test_lists_trees_and_leaves(self, home: Path):
        code, out, _ = tutor("trees")
        assert code == 0
        for words in ("phase-19", "unclipped-batch", "overfitting", "healthy"):
            assert words in out

    def test_check(self, home: Path):
        code, out, _ = tutor("trees", "check")
        assert code == 0
        assert "sound" in out
        (home / "my.yaml").write_text("tree: mine\n")
        code, _, err = tutor("trees", "check", "my.yaml")
        assert code == 2
        assert "my.en.yaml:1: can't be read" in err
        (home / "my.en.yaml").write_text("title: mine\n")
        code, _, err = tutor("trees", "check", "my.yaml")
        assert code == 2
        assert "my.yaml:1: start: is missing" in err

    def test_check_asks_the_lab_about_a_cards_faults_and_triggers(self, home: Path):
        pytest.importorskip("torch")
        for ending in (".yaml", ".en.yaml", ".es.yaml"):
            shutil.copy(ROOT / "trees" / "breaks" / f"no-clip{ending}", home / f"mine{ending}")
        card = home / "mine.yaml"
        assert tutor("trees", "check", str(home / "mine.es.yaml")) == (
            0,
            f"{card}: sound (6 checks, 3 fixes)\n",
            "",
        )
        card.write_text(card.read_text() + "faults:\n  - {name: frozzen}\n")
        code, out, err = tutor("trees", "check", str(card))
        line = len(card.read_text().splitlines())
        assert (code, out) == (2, "")
        assert err == f"{card}:{line}: faults: there is no fault 'frozzen'; did you mean frozen?\n"

    @pytest.mark.parametrize(
        ("breaks", "said"),
        [
            ("[no-clip, heavy-batches, no-clip-silent]", "the card of no-clip-silent promises another"),
            ("[heavy-batches]", "its breaks lack no-clip, whose card promises it"),
        ],
    )
    def test_check_holds_a_leafs_breaks_against_the_cards(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks: str, said: str
    ):
        shutil.copytree(ROOT / "trees", tmp_path / "trees")
        monkeypatch.chdir(tmp_path)
        graph = tmp_path / "trees" / "phase-19.yaml"
        text = graph.read_text()
        graph.write_text(text.replace("breaks: [no-clip, heavy-batches]", f"breaks: {breaks}"))
        code, out, err = tutor("trees", "check", str(graph))
        assert (code, out) == (2, "")
        assert f"leaf unclipped-batch: {said}" in err

    def test_check_asks_for_a_break_or_a_reason(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        shutil.copytree(ROOT / "trees", tmp_path / "trees")
        monkeypatch.chdir(tmp_path)
        for lang in ("en", "es"):
            prose = tmp_path / "trees" / f"phase-19.{lang}.yaml"
            lines = prose.read_text().splitlines(keepends=True)
            prose.write_text("".join(line for line in lines if "unreached:" not in line))
        code, _, err = tutor("trees", "check", str(tmp_path / "trees" / "phase-19.yaml"))
        assert code == 2
        assert "leaf decay-too-low: names no break, and no reason" in err

    def test_check_takes_a_break_or_a_reason_not_both(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        shutil.copytree(ROOT / "trees", tmp_path / "trees")
        monkeypatch.chdir(tmp_path)
        leaf = "\n  unclipped-batch:\n"
        for lang in ("en", "es"):
            prose = tmp_path / "trees" / f"phase-19.{lang}.yaml"
            prose.write_text(prose.read_text().replace(leaf, f"{leaf}    unreached: x\n"))
        code, _, err = tutor("trees", "check", str(tmp_path / "trees" / "phase-19.yaml"))
        assert code == 2
        assert "leaf unclipped-batch: a break reaches it" in err

    def test_a_card_of_ones_own_asks_nothing_of_the_shipped_trees(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "trees" / "breaks").mkdir(parents=True)
        for ending in (".yaml", ".en.yaml", ".es.yaml"):
            shutil.copy(
                ROOT / "trees" / "breaks" / f"no-clip{ending}", tmp_path / f"trees/breaks/mine{ending}"
            )
        monkeypatch.chdir(tmp_path)
        assert tutor("trees", "check")[0] == 0

    @pytest.mark.parametrize(
        ("words", "key"), [((), "questions"), (("--card",), "change"), (("--prose",), "about")]
    )
    def test_schema(self, home: Path, words: tuple[str, ...], key: str):
        code, out, _ = tutor("trees", "schema", *words)
        assert code == 0
        assert key in json.loads(out)["properties"]

    def test_breaks(self, home: Path):
        assert "no-clip-silent" in tutor("breaks")[1]
        assert "tutor train --break no-clip --control" in tutor("breaks", "no-clip", "--lang", "en")[1]


def test_lessons_of_nobody_yet(home: Path):
    code, out, _ = tutor("lessons", "--lang", "en")
    assert code == 0
    assert "no lessons yet" in " ".join(out.split())


LESSON = """## Clip before you trust the loss

2026-11-20 14:03 · 19-break · phase-19: 1.1 no

### 6. Verification

{trials}
"""


@pytest.mark.parametrize(
    ("trials", "told"),
    [
        ("**Not verified: clip=1** (2026-11-20 15:00, x)", "not verified"),
        ("**Not verified: clip=1** (x)\n\n**Verified: clip=2** (x)", "verified"),
        ("**Verificado: clip=2** (x)", "verified"),
    ],
)
def test_the_list_of_lessons_says_whose_fix_is_verified(home: Path, trials: str, told: str):
    (home / "learners" / "ana").mkdir(parents=True)
    (home / "learners" / "ana" / "lessons.md").write_text(LESSON.format(trials=trials))
    _, out, _ = tutor("lessons", "--learner", "ana", "--lang", "en")
    heading, entry, _, kept = out.splitlines()
    assert entry[heading.index("Fix") :].strip() == told
    assert "ana/lessons.md" in kept


def test_the_list_of_lessons_has_no_empty_column_where_no_fix_was_tried(home: Path):
    (home / "learners" / "ana").mkdir(parents=True)
    lessons = home / "learners" / "ana" / "lessons.md"
    untried = LESSON.format(trials="Not run yet.")
    lessons.write_text(untried)
    heading, *_ = tutor("lessons", "--learner", "ana", "--lang", "en")[1].splitlines()
    assert heading.split() == ["#", "Date", "Run", "Lesson"]
    lessons.write_text(untried + LESSON.format(trials="**Verified: clip=2** (x)"))
    heading, first, second, *_ = tutor("lessons", "--learner", "ana", "--lang", "en")[1].splitlines()
    at = heading.index("Fix")
    assert (first[at:].strip(), second[at:].strip()) == ("", "verified")


def test_a_log_that_says_too_little_is_not_called_healthy(home: Path):
    write_run(home / "r", [{"step": step, "cost": 1.0} for step in range(400)])
    code, out, _ = tutor("check", "r", "--lang", "en")
    assert code == 3
    assert "`cost`" in out


class TestMany:
    LOG = "".join(f"s:{step} trl:{9 / (1 + step):.3f} lr:0.001 norm:1.5\n" for step in range(300))

    def test_a_folder_of_many_ends_with_a_verdict_each(self, home: Path):
        for name in ("a", "b"):
            (home / "logs" / name).mkdir(parents=True)
            (home / "logs" / name / "main.log").write_text(self.LOG)
        code, out, _ = tutor("check", "logs", "--lang", "en")
        assert code == 3  # nothing wrong, and no validation to say the rest
        *last, total = out.rstrip().splitlines()[-5:]
        assert [line for line in last if line.endswith("main.log")] == ["logs/a/main.log", "logs/b/main.log"]
        assert all(line.startswith("  = [??] undecided: nothing was found, and") for line in last[1::2])
        assert max(map(len, last)) < 100
        assert total == "0 healthy, 0 with something wrong, 2 undecided"

    def test_short_prints_the_verdicts_alone(self, home: Path):
        for name in ("a", "b"):
            (home / "logs" / name).mkdir(parents=True)
            (home / "logs" / name / "main.log").write_text(self.LOG)
        _, whole, _ = tutor("check", "logs", "--lang", "en")
        code, short, _ = tutor("check", "logs", "--short", "--lang", "en")
        assert code == 3
        assert short.splitlines() == whole.rstrip().splitlines()[-5:]
        assert tutor("check", "logs/a", "--short", "--lang", "en")[1].splitlines() == short.splitlines()[:2]
        code, out, err = tutor("check", "logs", "--short", "--json")
        assert (code, out) == (2, "")
        assert "--short prints verdicts alone" in err

    PRINTED = "".join(f"step {step} loss {9 / (1 + step):.3f}\n" for step in range(300))
    CSV = "step,loss\n" + "".join(f"{step},{9 / (1 + step):.3f}\n" for step in range(300))

    def files(self, home: Path, *names: str) -> list[str]:
        for name in names:
            path = home / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.CSV if path.suffix == ".csv" else self.PRINTED)
        _, out, _ = tutor("check", "logs", "--lang", "en")
        lines = out.splitlines()
        summed_up = [line for line, verdict in pairwise(lines) if verdict.startswith("  = [")]
        return [line for line in summed_up if line.startswith("logs/")]

    def test_printed_logs_among_others_are_checked(self, home: Path):
        names = ["logs/a.csv", "logs/b.csv", "logs/deeper/d.log", "logs/c.out"]
        assert sorted(self.files(home, "a.csv", "b.csv", "c.out", "deeper/d.log"))[-4:] == sorted(names)

    def test_what_lies_beside_one_log_is_named(self, home: Path):
        assert self.files(home, "metrics.csv", "train.log", "logs/0.out") == []  # one run alone: no summary
        code, out, err = tutor("check", "logs", "--lang", "en")
        assert (code, "left out: logs/train.log, logs/logs/0.out" in err) == (3, True)
        assert "left out: logs" not in out

    def test_a_text_that_quotes_a_log_is_named(self, home: Path):
        self.files(home, "a.csv", "b.csv")
        epochs = "".join(
            f"| {epoch} | {3 - epoch / 9:.3f} | {3.1 - epoch / 9:.3f} |\n" for epoch in range(1, 9)
        )
        card = f"# A model\n\n| Epoch | Training Loss | Validation Loss |\n|---|---|---|\n{epochs}"
        (home / "logs" / "README.md").write_text(card)
        (home / "logs" / "deeper").mkdir()
        (home / "logs" / "deeper" / "history.txt").write_text(repr({"loss": [3.0, 2.0, 1.5] * 9}))
        _, out, err = tutor("check", "logs", "--lang", "en")
        quoted = "left out: logs/README.md, logs/deeper/history.txt, a text with rows of a log in it"
        assert quoted in err
        assert "README" not in out

    def test_texts_without_a_log_and_those_that_are_data_are_not_spoken_of(self, home: Path):
        self.files(home, "a.csv", "b.csv")
        table = "| File | Size |\n|---|---|\n| a | 3 |\n"
        readme = f"# Read me\n\nStep 1: install it. The loss ends near 0.3.\n\n{table}"
        (home / "logs" / "README.md").write_text(readme)
        (home / "logs" / "requirements.txt").write_text("torch==2.1\nnumpy\n")
        (home / "logs" / "labels.txt").write_text("".join(f"{i % 7}\n" for i in range(99)))
        (home / "logs" / "data").mkdir()
        for i in range(30):
            (home / "logs" / "data" / f"{i}.txt").write_text(repr({"loss": [3.0, 2.0, 1.5] * 9}))
        assert "left out" not in tutor("check", "logs", "--lang", "en")[2]

    def test_a_printed_log_of_another_run_is_checked_beside_it(self, home: Path):
        self.files(home, "metrics.csv")
        worse = "".join(f"step {step} loss {4 + step / 30:.3f}\n" for step in range(90))
        (home / "logs" / "train.log").write_text(worse)
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "logs/train.log\n  = [!!]" in out
        assert "left out" not in err

    def test_a_document_of_json_that_is_known_by_its_words_is_checked_too(self, home: Path):
        self.files(home, "a.csv", "b.csv")
        scores = {"accuracy": [0.1 * i for i in range(9)], "val_accuracy": [0.09 * i for i in range(9)]}
        (home / "logs" / "history.json").write_text(json.dumps(scores))
        (home / "logs" / "config.json").write_text('{"hidden": 12, "strides": [5, 2, 2, 2]}')
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "logs/history.json\n  = [" in out
        assert "config.json" not in out + err

    def test_packed_ones_and_bare_numbers_are_checked_too(self, home: Path):
        self.files(home, "a.csv", "b.csv")
        (home / "logs" / "c.log.gz").write_bytes(gzip.compress(self.PRINTED.encode()))
        (home / "logs" / "loss.csv").write_text(self.CSV.partition("\n")[2])
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "logs/c.log.gz\n  = [" in out
        assert "logs/loss.csv\n  = [" in out
        assert "not read" not in err

    def test_what_a_reader_knows_beside_a_trainers_log_isnt_said_to_fit_nothing(self, home: Path):
        self.files(home, "a.csv")
        history = ", ".join(f'{{"step": {at}, "loss": {9 / (1 + at):.3f}}}' for at in range(1, 300))
        (home / "logs" / "trainer_state.json").write_text(
            f'{{"global_step": 299, "log_history": [{history}]}}'
        )
        (home / "logs" / "odd.log").write_text("hello\n")
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "a.csv" not in out
        assert "left out: logs/a.csv, beside the one other log" in err
        assert "not read, since no format fits: logs/odd.log;" in err

    @pytest.mark.parametrize("loss", ["3.9", "nan"])
    def test_what_is_plainly_of_another_run_is_checked_beside_a_trainers_log(self, home: Path, loss: str):
        history = ", ".join(f'{{"step": {at}, "loss": {9 / (1 + at):.3f}}}' for at in range(1, 300))
        (home / "logs").mkdir()
        (home / "logs" / "trainer_state.json").write_text(
            f'{{"global_step": 299, "log_history": [{history}]}}'
        )
        (home / "logs" / "other.csv").write_text(
            "epoch,loss\n" + "".join(f"{at},{loss}\n" for at in range(5))
        )
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "logs/other.csv\n" in out
        assert "logs/trainer_state.json\n" in out
        assert "left out" not in err

    def test_what_no_reader_knows_is_named(self, home: Path):
        self.files(home, "a.csv", "b.csv")
        (home / "logs" / "empty.csv").write_text("")
        (home / "logs" / "odd.log").write_text("hello\n")
        (home / "logs" / "notes.txt").write_text("hello\n")
        (home / "logs" / "config.json").write_text("{}")
        _, _, err = tutor("check", "logs", "--lang", "en")
        assert "not read, since no format fits: logs/empty.csv, logs/odd.log;" in err
        assert "not read" not in tutor("check", "logs/a.csv", "--lang", "en")[2]

    def test_so_it_is_in_a_folder_of_its_own_beside_others_that_are_read(self, home: Path):
        self.files(home, "a/loss.csv", "odd/run7.jsonl")
        (home / "logs" / "odd" / "run7.jsonl").write_text('{"at": 1, "objective": 2.5}\n' * 5)
        (home / "logs" / "a" / "notes.log").write_text("hello\n")  # beside a run, so most likely of it
        _, out, err = tutor("check", "logs", "--lang", "en")
        assert "logs/a/loss.csv\n" in out
        assert "not read, since no format fits: logs/odd/run7.jsonl;" in err

    def test_each_run_of_a_file_that_holds_several_is_checked_once(self, home: Path):
        (home / "logs" / "one").mkdir(parents=True)
        header = ",".join(f"{run} - loss{kind}" for run in "ab" for kind in ("", "__MIN", "__MAX"))
        rows = "".join(",".join([str(at), *[f"{3 - at / 20}"] * 6]) + "\n" for at in range(30))
        (home / "logs" / "one" / "export.csv").write_text(f"Step,{header}\n{rows}")
        (home / "logs" / "two.csv").write_text(self.CSV)
        _, out, err = tutor("check", "logs", "--short", "--lang", "en")
        assert [line for line in out.splitlines() if line.startswith("logs/")] == [
            *("logs/one/export.csv/a", "logs/one/export.csv/b", "logs/two.csv"),
        ]
        assert "left out" not in err

    @pytest.mark.parametrize(
        ("text", "code"),
        [(LOG, 3), (LOG.replace("trl:0.0", "trl:nan"), 1), ("", 2)],
        ids=["undecided", "flaw", "empty"],
    )
    def test_standard_input(self, home: Path, text: str, code: int):
        command = [sys.executable, "-m", "tutor", "check", "-", "--lang", "en"]
        ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=home)
        assert ended.returncode == code, ended.stderr
        assert "standard input" in ended.stdout + ended.stderr
        assert "/tmp" not in ended.stdout + ended.stderr

    def test_several_runs_on_standard_input_are_told_apart(self, home: Path):
        head = '"Step","one - loss","one - loss__MIN","two - loss","two - loss__MIN"\n'
        text = head + "".join(f"{step},{4 - step / 50},0,{3 - step / 50},0\n" for step in range(60))
        command = [sys.executable, "-m", "tutor", "check", "-", "--json"]
        ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=home)
        assert [one["run"] for one in json.loads(ended.stdout)] == [
            "standard input/one",
            "standard input/two",
        ]


def test_compare_outside_the_log(home: Path):
    assert "0 to 599" in refused("compare", "19-control", "19-break", "--at", "9999")


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-at-all/x"])
def test_names_that_no_path_can_have(home: Path, name: str):
    assert "no run" in refused("check", name)


def test_compare(home: Path):
    code, out, _ = tutor("compare", "19-control", "19-break", "--lang", "en")
    assert code == 0
    assert "grad_clip" in out
    assert "312" in out


def test_compare_measures_by_the_tree_that_is_named(home: Path):
    folder = home / "trees"
    folder.mkdir()
    for shipped in (ROOT / "trees").glob("phase-19*.yaml"):
        text = (
            shipped.read_text()
            .replace("tree: phase-19", "tree: strict")
            .replace("sigmas: 3.0", "sigmas: 1e6")
        )
        (folder / shipped.name.replace("phase-19", "strict")).write_text(text)
    words = ("compare", "19-control", "19-break", "--lang", "en")
    assert "Measured at step 312" in tutor(*words)[1]
    code, out, _ = tutor(*words, "--tree", "strict")
    assert code == 0
    assert "No spike in either run" in out
    assert "no tree 'strct'" in refused(*words, "--tree", "strct")


def test_a_run_that_kept_its_trigger_among_the_settings_is_not_resumed(home: Path):
    pytest.importorskip("torch")
    settings = {"steps": 40, "boilerplate_step": 312, "boilerplate_batches": 3}
    run = write_run(home / "early", GOOD[:10], {"tutor": "0.1.0", "break": "no-clip", "settings": settings})
    assert "begun by an early tutor" in refused("train", "--resume", str(run))


def test_without_torch_train_says_how_to_get_it(home: Path):
    hide = "import sys; sys.modules['torch'] = None; from tutor.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", hide, "train"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == (
        "tutor: training needs torch and tokenizers; get them with: "
        "pip install -c constraints.txt '.[train]'\n"
    )


class TestNames:
    """What the user says that a log's columns are called."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> Iterator[Path]:
        path = tmp_path / "my.csv"
        path.write_text("iter,train/energy\n" + "".join(f"{step},{6 - step / 100}\n" for step in range(300)))
        yield path
        called.call({})
        readers.want(None)

    def test_a_map_is_asked_for_taken_and_kept_where_that_is_wanted(self, log: Path):
        code, _, wrong = tutor("check", str(log))
        assert code == 2
        assert wrong.endswith("name what is missing with --map loss=COLUMN\n")
        words = ("--map", "loss=train/energy,step=iter")
        assert "all 300 logged losses are finite" in tutor("check", str(log), *words)[1]
        assert "name what is missing with" in tutor("check", str(log))[2]
        assert "kept in" in tutor("check", str(log), *words, "--remember")[2]
        assert "loss is read from the column train/energy" in tutor("check", str(log))[1]

    def test_what_is_kept_of_another_log_leaves_the_first_as_it_was(self, log: Path):
        other = log.with_name("other.csv")
        other.write_text(log.read_text().replace("iter", "k").replace("train/energy", "Q"))
        tutor("check", str(log), "--map", "loss=train/energy,step=iter", "--remember")
        tutor("check", str(other), "--map", "loss=Q,step=k", "--remember")
        assert "loss is read from the column train/energy" in tutor("check", str(log))[1]
        assert "loss is read from the column Q" in tutor("check", str(other))[1]
        tutor("check", str(other), "--map", "loss=k,step=Q", "--remember")  # said anew of the same log
        assert json.loads((log.parent / "tutor-names.json").read_text()) == {
            "loss": "train/energy",
            "step": "iter",
            "other.csv": {"loss": "k", "step": "Q"},
        }

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--map", "los=train/energy"), "there is no signal 'los'; did you mean loss?"),
            (("--format", "nanogtp"), "there is no format 'nanogtp'; did you mean nanogpt?"),
            (("--format", "nanogpt"), "doesn't look like a log of the format nanogpt"),
            (("--remember",), "--remember keeps what --map and --set say"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_in_one_line(self, log: Path, words: tuple[str, ...], said: str):
        code, _, wrong = tutor("check", str(log), *words)
        assert code == 2
        assert said in wrong
        assert not (log.parent / called.BESIDE).exists()


@pytest.mark.parametrize("command", [("verify",), ("trees", "schema"), ("walk",)])
def test_help_is_broken_by_its_width_and_not_as_its_source(command: tuple[str, ...], monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = tutor(*command, "--help")
    told = [line.strip() for line in out.partition("╭")[0].splitlines()[3:]]
    lines = [line for line, later in pairwise(told) if line and later]  # all but the last of each paragraph
    assert all(len(line) + 1 + len(later.split()[0]) > 78 for line, later in pairwise(told) if line in lines)


def test_where_there_is_no_jump_the_tree_for_long_runs_asks_the_next_one(home: Path):
    loss = [*(9 - 4 * (1 - 0.97**row) for row in range(300)), *[8.5] * 100]  # up by 1.7 times, and not back
    rows = "".join(f"{row},{one + 0.02 * (row % 3 - 1):.3f}\n" for row, one in enumerate(loss))
    (home / "log.csv").write_text(f"step,loss\n{rows}")
    code, out, _ = tutor("check", "log.csv", "--tree", "scale", "--lang", "en")
    assert code == 1
    assert "scale · a spike in a long run   1/1 answered" in out
    assert "= [!!]" in out


def test_rows_of_json_of_other_names_say_how_to_name_them(home: Path):
    (home / "log.jsonl").write_text('{"at": 1, "objective": 2.5}\n' * 3)
    told = refused("check", "log.jsonl", "--map", "step=at,loss=nope")
    assert "the first has `at`, `objective`, and not `nope`, which --map names" in told
    assert "say how: --map step=NAME,loss=NAME" in refused("check", "log.jsonl")
