"""QuestionPane: the question at hand, whole, and what is at stake."""

from textual.content import Content

from tutor.tree import Question
from tutor.ui.widgets.settled import Words


class QuestionPane(Words):
    """The sentence asked. `why` stands under it where there is room, or when asked for."""

    def show(self, id: str, question: Question, lang: str, *, why: bool) -> None:
        """Draw the question."""
        self.border_title = Content.assemble(f"{id}  {question.title(lang)}")
        parts = [(question.ask(lang, question.numbers), "bold")]
        if why:
            parts.append((f"\n{question.why(lang, question.numbers)}", "$foreground-muted"))
        self.update(Content.assemble(*parts))
