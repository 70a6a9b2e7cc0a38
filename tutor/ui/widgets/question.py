"""QuestionPane: the question at hand, whole, and what is at stake."""

from textual.content import Content

from tutor.saying import of_unrecorded, of_windows
from tutor.tree import Question
from tutor.ui.widgets.settled import Words
from tutor.walk import AtQuestion


class QuestionPane(Words):
    """The sentence asked. `why` stands under it where there is room, or when asked for."""

    def show(
        self, id: str, question: Question, lang: str, *, why: bool, walk: AtQuestion | None = None
    ) -> None:
        """Draw the question and, once the log is read, what its windows come to there, or that nothing of it
        was recorded.
        """
        self.border_title = Content.assemble(f"{id}  {question.title(lang)}")
        parts = [(question.ask(lang, question.numbers), "bold")]
        if walk is not None and (passes := of_unrecorded(walk, lang)):
            parts.append((f"\n{passes}", "$accent"))
        elif walk is not None and (windows := of_windows(question, walk.run, lang)):
            parts.append((f"\n{windows}", "$foreground-muted"))
        if why:
            parts.append((f"\n{question.why(lang, question.numbers)}", "$foreground-muted"))
        self.update(Content.assemble(*parts))
