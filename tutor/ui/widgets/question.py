"""QuestionPane: the question at hand, whole, and what is at stake."""

from textual.content import Content

from tutor.run import Run
from tutor.saying import of_windows
from tutor.tree import Question
from tutor.ui.widgets.settled import Words


class QuestionPane(Words):
    """The sentence asked. `why` stands under it where there is room, or when asked for."""

    def show(self, id: str, question: Question, lang: str, *, why: bool, run: Run | None = None) -> None:
        """Draw the question, and what its windows come to over `run`, once that is read."""
        self.border_title = Content.assemble(f"{id}  {question.title(lang)}")
        parts = [(question.ask(lang, question.numbers), "bold")]
        if run is not None and (windows := of_windows(question, run, lang)):
            parts.append((f"\n{windows}", "$foreground-muted"))
        if why:
            parts.append((f"\n{question.why(lang, question.numbers)}", "$foreground-muted"))
        self.update(Content.assemble(*parts))
