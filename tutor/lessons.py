"""The lessons of a notebook as `tutor lessons` prints them: the list, or one whole."""

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from tutor.notebook import Lesson, Notebook, NotebookError
from tutor.words import LANGUAGES, plain, say


def show(notebook: Notebook, number: int | None, lang: str, console: Console) -> None:
    """Print the list or, with a number from it, one lesson whole.

    Raises:
        NotebookError: there is no lesson of that number.
    """
    lessons = notebook.lessons()
    if number is None:
        console.print(_list(notebook, lessons, lang), markup=False, highlight=False)
        if lessons:
            kept = say("notebook.kept", lang, path=str(notebook.lessons_path))
            console.print(f"\n{plain(kept)}", markup=False, highlight=False, soft_wrap=True)
        return
    if not 1 <= number <= len(lessons):
        raise NotebookError("no_lesson", number=number, count=len(lessons), name=notebook.learner)
    body = plain(lessons[number - 1].body, lines=True)
    if console.is_terminal:
        console.print(Markdown(body))
    else:
        console.file.write(body + "\n")


def _list(notebook: Notebook, lessons: list[Lesson], lang: str) -> Table | Text:
    if not lessons:
        return Text(say("notebook.none", lang, name=notebook.learner, path=str(notebook.lessons_path)))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("#", justify="right")
    columns = {
        "date": [entry.date for entry in lessons],
        "run": [entry.run for entry in lessons],
        "lesson": [entry.lesson for entry in lessons],
    }
    if any(fixes := [_fix(entry, lang) for entry in lessons]):  # else nobody has tried one
        columns["fix"] = fixes
    for column in columns:
        table.add_column(Text(say(f"notebook.{column}", lang)), overflow="fold")
    for number, told in enumerate(zip(*columns.values(), strict=True), 1):
        table.add_row(str(number), *(Text(plain(part)) for part in told))
    return table


def _fix(entry: Lesson, lang: str) -> str:
    """Whether one of the trials in a lesson's section 6 verified its fix; "" where there is none."""
    lines = entry.body.splitlines()
    for key in ("verified", "not_verified"):
        heads = tuple(f"**{say(f'verify.{key}', one, change='').rstrip()}" for one in LANGUAGES)
        if any(line.startswith(heads) for line in lines):
            return say(f"notebook.{key}", lang)
    return ""
