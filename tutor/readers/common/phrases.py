"""Wordings that tell a step and a loss otherwise than as names with a number behind each, as such pairs.

`Cost after iteration 100: 0.64` is `iteration 100, loss: 0.64`. A reader of printed lines has them rewritten
so before it looks for pairs. The patterns are read by Python and by polars: see `lines`. What stands for any
text in one is bounded: Python would look through a line that is made for it again and again.
Sources: darknet's detector.c, karpathy/makemore, PyTorch's tutorials (quickstart, seq2seq), wenet's
executor.py, espnet2's reporter.py, mmengine's log_processor.py, clu's metric_writers, PyTorch Geometric's
examples, llama.cpp's common/train.cpp, keras/src/callbacks/model_checkpoint.py,
bearpaw/pytorch-classification, kuangliu/pytorch-cifar, dbolya/yolact's train.py, Microsoft's C runtime (how
it prints NaN).
"""

import re
from functools import cache, lru_cache

from tutor.readers.common import not_finite
from tutor.run.vocabulary import ABROAD

_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|nan|inf)"
_EXACT = r"-?(?:[0-9]+\.[0-9]{4,}|nan|inf)"  # as a loss is printed, and a share or a count hardly ever
_DECIMALS = r"(?:[0-9]+\.[0-9]+|nan|inf)"
_COUNTER = r"(epoch|iteration|iter|step|batch|minibatch|update|round|episode)s?\s{0,2}#?\s{0,2}([0-9]+)"
_AT = (
    r"(?:\s{0,2}\([^()]{0,30}\))?\s{1,3}(?:at|after|for|in|on|of)\s{1,3}(?:the\s)?"
    rf"{_COUNTER}\s{{0,3}}(?::|=|-{{1,2}}>|is)\s{{0,3}}"
)
_PLACE = r"([0-9]+)/([0-9]+)"

_OF_SETS = r"\b(?:[a-z]{1,20}_){0,3}(loss|acc|accuracy|f1|auc|score)['\"]?\s{0,3}[:=]\s{0,3}\{\s{0,3}"
_A_SET, _TRAINED = (
    rf"['\"]?({sets})['\"]?\s{{0,3}}:\s{{0,3}}(?:tensor\()?({_NUMBER})\)?"
    for sets in ("train|training|val|valid|validation|eval|test|dev", "train|training")
)

WORDLESS = (
    rf"^\s*([0-9]+): ({_NUMBER}), ({_NUMBER}) avg(?: loss)?, ({_NUMBER}) rate",
    rf"^\s*([0-9]+)\s?/\s{{0,9}}[0-9]+:\s{{1,9}}({_NUMBER})\s*$",
    rf"(?:^|>|\s)[0-9]+m [0-9]+s (?:\(- ?-?[0-9]+m [0-9]+s\) )?\(([0-9]+) [0-9]+%\) ({_NUMBER})",
    rf"^\s*([0-9]+)\s+tensor\(({_NUMBER})",
    r"^\s*At iterate\s+([0-9]+)\s+f=\s*(-?[0-9.]+)D([-+][0-9]+)",
    rf"^\s*([0-9]+) [0-9]+% \([0-9]+m [0-9]+s\) ({_NUMBER})\b",
    rf"^\s*\[\s{{0,9}}([0-9]+)\]\s{{1,12}}([0-9]+) \|\| ([^\n]{{0,200}}?)\bT: ({_NUMBER}) \|\|",
    rf"^\s*tensor\(({_NUMBER})(?:, [^()]{{0,60}})?, grad_fn=<[a-z0-9]{{1,40}}>\)",
    rf"^\s*([0-9]+):?\s{{1,9}}train:?\s{{1,9}}({_EXACT})[,|]?\s{{1,9}}val:?\s{{1,9}}({_EXACT})\s*$",
    rf"^\s*([0-9]+)[ ,\t]{{1,3}}([0-9]+)[ ,\t]{{1,3}}tensor\(({_NUMBER})",
    r"损失|損失|손실|потер|ошибк[а-я]\s(?:на\s)?(?:обучени|тренировк|валидаци)",
    rf"^(\W{{0,9}}(?:epoch|ep|iter|step)\.?\s{{0,3}}[0-9]{{1,9}}(?:\s?/\s?[0-9]{{1,9}})?(?:\s|[:|,-]){{1,6}})"
    rf"tr:?\s{{1,3}}({_DECIMALS})[,|;]?\s{{1,4}}va:?\s{{1,3}}({_DECIMALS})(?:\s|,|$)",
)
"""Those of lines in which no word says what they are."""

PHRASES: tuple[tuple[str, str], ...] = (
    # Where in a program a line was printed, as loguru has it.
    (r"\| [a-z_][a-z0-9_.]{0,80}:[a-z_<][a-z0-9_<>.]{0,80}:[0-9]{1,6} - ", "| "),
    (
        r"^(\W{0,9})(?:eval|test|step|iter|iteration|timesteps?) @ {0,9}([0-9][0-9,]{0,15})(\s|:|\]|\))",
        "{1}step {2}{3}",
    ),
    # `[e0 s3]`, `[ep 1/5, step 40/600]` of a line of pairs.
    (
        r"^\s*\[\s?e(?:p(?:och)?)?\s?([0-9]{1,6})(?:/[0-9]{1,6})?[ ,;|/]{1,3}"
        r"s(?:tep)?\s?([0-9]{1,9})(?:/[0-9]{1,9})?\s?\]",
        "epoch {1}, step {2},",
    ),
    # `[Train 10/1882]`, `Val: [3/20]`: how far it has come, and no loss.
    (
        r"\b(train|val|valid):?\s{0,3}[\[(]?\s{0,3}([0-9]{1,9})(?:\s?/\s?|\sof\s)([0-9]{1,9})"
        r"(?:[\])]|(\s|[,:|;])|$)",
        "[{2}/{3}] {1} {4}",
    ),
    # `[epoch: 80/200, iter: 25/448] total: 1.10`: what it is the total of is the loss.
    (
        r"(\bepoch:?\s{0,3}[0-9/]{1,15},?\s{1,3}iter:?\s{0,3}[0-9]{1,9}/[0-9]{1,9}\]\s{1,3})total:"
        r"(\s{1,3}[0-9]+\.[0-9]+|\s{1,3}nan)(\s*)$",
        "{1}loss:{2}{3}",
    ),
    # Nothing between the counter and the loss.
    (r"\b(?:idx|step|iter(?:ation)?|epoch|episode):?\s{0,3}([0-9]{1,9})loss\b", "step {1}, loss"),
    # timm's: the epoch stands behind the word for the set of data.
    (r"^(\s*)train: ([0-9]{1,6}) (\[\s{0,9}[0-9]{1,9}/)", "{1}epoch: {2} {3}"),
    # Of an evaluation a batch at a time the mean so far, in brackets, is what it comes to.
    (
        rf"^(\W{{0,9}}(?:test|val|valid|validation|eval):?\s.{{0,120}}?\bloss:?\s{{1,9}}){_NUMBER}\s{{1,9}}\(\s{{0,9}}({_NUMBER})\)",
        "{1}{2}",
    ),
    not_finite.PHRASE,
    (r"-?1\.#(?:QNAN|SNAN|IND)[0-9]*", "nan"),
    (r"1\.#INF[0-9]*", "inf"),
    (r"\b(nan|inf)\.0\b", "{1}"),  # Lightning's progress bar
    (
        rf"overflow detected,? setting loss scale to:? ({_NUMBER})",
        "Gradient overflow. Skipping step, reducing loss scale to {1}",
    ),
    # DeepSpeed's, of a loop that prints its own rows.
    (
        rf"Attempted loss scale: {_NUMBER}, reducing to ({_NUMBER})",
        "Gradient overflow. Skipping step, reducing loss scale to {1}",
    ),
    # Over how many the mean goes is said between a name and its value.
    (
        r"\b(rewards?|returns?|scores?|loss)\s?\((?:last|past|over)\s[0-9]{1,6}(?:\s[a-z]{1,12})?\)(\s{0,9}[:=])",
        "{1}{2}",
    ),
    # `Training completed.   Loss: 0.5`: the set of data is what the loss is of.
    (
        r"\b(train(?:ing)?|valid(?:ation)?|eval(?:uation)?|test(?:ing)?)\s(?:completed?|finished|done|ended|results?"
        r"|summary)\W{1,6}((?:(?:avg|average|mean)\s)?loss)\b",
        "{1} {2}",
    ),
    # `running_loss: {'train': 0.5, 'val': 0.6}`: what the dictionary is of is what each value in it is.
    # Training comes first: a line that begins with held-out data is taken to be about that.
    (rf"{_OF_SETS}{_A_SET},\s{{0,3}}{_TRAINED}\s{{0,3}}\}}", "{4} {1}: {5}, {2} {1}: {3}"),
    (rf"{_OF_SETS}{_A_SET},\s{{0,3}}{_A_SET}\s{{0,3}}\}}", "{2} {1}: {3}, {4} {1}: {5}"),
    (rf"{_OF_SETS}{_A_SET}\s{{0,3}}\}}", "{2} {1}: {3}"),
    # MXNet's, in R.
    (r"^(\s*)\[([0-9]{1,6})\] (train|validation)-([a-z0-9_-]{1,30})=", "{1}epoch {2}, {3} {4}="),
    # PyTorch's first tutorial.
    (
        r"^(\W{0,3})\[\s{0,9}([0-9]+),\s{0,9}([0-9]+)\]\s{0,9}((?:[a-z]{1,20}\s)?loss)\b",
        "{1}epoch {2}, batch {3}, {4}",
    ),
    # Keras's callbacks speak of an epoch between its rows, with no value that isn't in them.
    (
        r"^\s*Epoch [0-9]{1,9}: (?:[a-z0-9_]{1,60} (?:improved|did not improve) from\b|saving model"
        r"|early stopping|ReduceLROnPlateau\b).{0,999}$",
        "",
    ),
    (rf"\bL: ({_NUMBER}) C: ({_NUMBER})", "loss_l: {1} loss_c: {2} "),
    # llama.cpp prints a line before it has trained on anything, with a loss of 0.
    (r"(train_opt_callback: iter= {0,9}0 sample=[0-9/]{1,30} sched=[0-9.]{1,20}) loss=0\.0+\b", "{1}"),
    (r"([0-9]|nan|inf)\.\.(\s)", "{1}{2}"),
    (r"\b([a-z]{1,30}):\s{0,9}([0-9]{1,3}%\|)", "{1}; {2}"),  # how much is done is no count
    (r"\b(step|epoch|iter)_([0-9]+)\b", "{1} {2}"),
    (
        r"\b(epoch|step|iter(?:ation)?|episode)\s?(?:no|nr|num|number)\b\.?(\s{0,3}[:=#]?\s{0,3}[0-9])",
        "{1}{2}",
    ),
    (r"\b(epoch|iter(?:ation)?)([0-9]+)\b", "{1} {2}"),
    (rf"\bloss_({_NUMBER})", "loss {1}"),
    (
        rf"^\s*epoch\s{{0,3}}([0-9]+)(?:/[0-9]+)?\s?:\s{{0,9}}({_NUMBER})\s*(?:,? ?time\b.{{0,60}})?$",
        "epoch {1}, loss: {2}",
    ),
    (rf"\bcost{_AT}", "{1} {2}, loss: "),
    (r"\b(?:mean|average|avg) cost\b", "cost"),
    (r"\b(epoch|step|iter(?:ation)?)\b([^a-z]{0,30})\bcost\s{0,3}[:=]?\s{0,3}", "{1}{2}loss: "),
    (r"\bTest net output #[0-9]+: loss\b", "test loss"),
    # DL4J calls what is minimised a score.
    (r"\b(ScoreIterationListener - )Score at iteration ([0-9]+) is ", "{1}iteration {2}, loss: "),
    (rf"\b((?:[a-z]+[ _]){{0,2}}(?:loss|rewards?|returns?|scores?)){_AT}", "{2} {3}, {1}: "),
    (r"^\s*([0-9]+):?(\s{1,4}\[[DG] loss:)", "step {1}{2}"),  # Keras-GAN, and what was made of it
    (r"^\W*([a-z_]{0,30}loss[a-z_]{0,30})\s?\[\s{0,9}([0-9]+)\s{0,9}\]\s{0,3}[:=]\s{0,3}", "step {2}, {1}: "),
    (r"\b(avg|mean|max|min|std|sum)\(([a-z_]{1,30})\)(\s?[:=])", "{1} {2}{3}"),
    (r"\blosses(\s{0,9}[:=])", "loss{1}"),
    # Flower's rounds, and what counts them in the same order.
    (r"^(\W{0,9})after ([0-9]{1,9}) (epoch|round|step|iteration|episode)s?\s?[:,-]", "{1}{3} {2},"),
    (
        r"\b((?:[a-z]{1,12} ){0,2}loss) after ([0-9]{1,9}) (epoch|round|step|iteration|episode)s?\s?[:=]",
        "{3} {2}, {1}:",
    ),
    # The value before its name: `Epoch 3 : 0.97 C.E. Loss, 96.2% Accuracy`.
    (
        rf"([:,|]\s{{1,3}})({_NUMBER}) ((?:[a-z.]{{1,12}} ){{0,2}}loss), "
        rf"({_NUMBER})%? ((?:[a-z.]{{1,12}} ){{0,2}}accuracy)\b",
        "{1}{3}: {2}, {5}: {4}",
    ),
    (
        rf"\[((?:[a-z.]{{1,20}} )?loss), ((?:[a-z.]{{1,20}} )?loss)\]:? {{1,3}}\[({_NUMBER}), ({_NUMBER})\]",
        "{1}: {3}, {2}: {4}",
    ),
    # A pair of the step and its value, as federated learning's rounds keep them.
    (rf"\b([a-z_]{{0,30}}loss)\s?[:=]\s?\(\s?([0-9]+)\s?,\s?({_NUMBER})\s?\)", "step {2}, {1}: {3}"),
    (WORDLESS[0], "iteration {1}, loss {2}, avg loss {3}, lr {4}"),
    (WORDLESS[1], "step {1}, loss: {2}"),
    (WORDLESS[2], "step {1}, loss: {2}"),
    (WORDLESS[3], "step {1}, loss: {2} ("),
    (WORDLESS[4], "iteration {1}, loss: {2}e{3}"),
    (WORDLESS[5], "step {1}, loss: {2} "),
    (WORDLESS[7], "tensor loss: {1} "),
    (WORDLESS[8], "step {1}, train loss: {2}, val loss: {3}"),
    (WORDLESS[9], "epoch {1}, step {2}, loss: {3} ("),
    (WORDLESS[11], "{1}train loss: {2}, val loss: {3} "),
    (WORDLESS[6], "epoch {1}, iteration {2}, {3}loss: {4} ||"),
    (r"第\s?([0-9]+)\s?轮", "epoch {1},"),
    (r"训练(?:次数|步数)", "step"),
    (r"整体(?:验证|测试)集上的\s?(?:loss|损失)", "sum over a held-out set"),
    (r"(?:验证|测试)(?:集)?(?:准确率|精度|正确率)", "val accuracy"),
    (r"(?:训练)(?:集)?(?:准确率|精度|正确率)", "train accuracy"),
    (r"(?:验证|测试)集上的\s?(?:loss|损失)", "val loss"),
    (r"(?:验证|测试)(?:集)?损失", "val loss"),
    (r"(?:训练)?损失(?:值)?", "loss"),
    (r"当前|平均", " "),
    (r"轮次|エポック|에폭|에포크|эпоха", "epoch "),
    (
        r"(?:検証|검증|валидационн[а-я]{1,3}|проверочн[а-я]{1,3})\s?(?:データ)?(?:の)?(?:損失|손실|потер[а-я])",
        "val loss",
    ),
    (r"(?:потер[а-я]|ошибк[а-я]|損失|손실)\s?(?:на)?\s?валидации", "val loss"),
    (r"ошибк[а-я]\s(?:на\s)?(?:обучени[а-я]|тренировк[а-я])", "loss"),
    (r"точность\s(?:на\s)?валидации", "val accuracy"),
    (r"точность(?:\s(?:на\s)?обучени[а-я])?", "accuracy"),
    (r"(?:(?:訓練|学習|훈련|학습)\s?)?(?:損失|손실)|потер[а-я](?:\s?на\s?обучении)?", "loss"),
    (r"：", ": "),
    (r"，", ", "),
    (r"\bTRAIN Batch ([0-9]+)/([0-9]+) loss\b", "epoch {1} batch {2} loss"),
    (r"\bCV Batch ([0-9]+)/([0-9]+) loss\b", "epoch {1} batch {2} valid loss"),
    (r"\b([0-9]+)epoch:(?:train|valid):[0-9]+-([0-9]+)batch:", "epoch {1} batch {2}:"),
    (r"\b([0-9]+)epoch results:", "epoch {1} results:"),
    (r"(\[valid\][^\[\]]{0,999}?)\bloss=", "{1}valid loss="),
    (r"^\s*Accuracy: ([0-9.]+)%, Avg loss:", "val accuracy: {1}, val loss:"),
    (rf"\bEpoch\(train\)\s*\[([0-9]+)\]\[\s*{_PLACE}\]", "Epoch [{1}][{2}/{3}]"),
    (r"\b((?:loss|acc[a-z]{0,6}|lr)) ?\(([a-z][a-z _-]{1,20})\)(\s?[:=])", "{2} {1}{3}"),
    (r"\] \[([0-9]+)\] ([a-z_/]+=)", "] step {1}, {2}"),
    (
        r"(\bloss\b.{0,80}?)\btrain(\s?[:=]\s?[0-9.]+%?,?\s+)val(?:id)?(\s?[:=])",
        "{1}train score{2}val score{3}",
    ),
    (rf"\|[# ]{{4,99}}\| \({_PLACE}\)", "| {1}/{2} [=]"),
    (rf"\[[=>.]{{0,99}} {_PLACE} [=>.]{{0,99}}\]", "| {1}/{2} [=]"),
)
"""Each pattern, and the pairs that it means, with the number of its groups in braces."""


EVALUATING = r"Evaluating perplexity"
"""By which it is known that a log has DeepSpeed-Chat's evaluations, each on a line of its own."""
EVALUATED: tuple[tuple[str, str], ...] = (
    (rf"^\s*ppl: ({_NUMBER})\s*$", "val ppl: {1}"),
    (rf"^\s*ppl: ({_NUMBER}), loss: ({_NUMBER})\s*$", "val ppl: {1}, val loss: {2}"),
)

SPEEDOMETER = r"\bBatch ?\[[0-9]+\]\s+Speed: [0-9.]+ samples/sec"
"""By which it is known that a log has the rows of MXNet's Speedometer."""
EMPTIED: tuple[tuple[str, str], ...] = (
    (r"^(.{0,60}\bEpoch\[[0-9]+\] Train-[a-z0-9_-]{1,30}=)nan\s*$", "{1}"),
)
"""Its mean at the end of an epoch is of no batch where the Speedometer has just begun a new one: nan, which
says nothing. A NaN in the batches before is in their own rows."""


def _words_for(english: str) -> str:
    """A pattern of the words that mean it in other languages. Before é no word begins, in ASCII."""
    words = (word if word[0].isascii() else word[1:] for word, meant in ABROAD.items() if meant == english)
    return rf"(?:\b|[éÉ])(?:{'|'.join(words)})s?\b"


TRANSLATED: tuple[tuple[str, str], ...] = (
    (r"\b[dl]['’]([a-zéêî])", "{1}"),  # l'étape, perte d'entraînement
    *((_words_for(english), english) for english in dict.fromkeys(ABROAD.values())),
    (r"\bloss (?:de|du|di|do|da) (validation|train)\b", "{1} loss"),
    (rf"\bvalidation:?\s{{1,3}}({_NUMBER})\s{{1,3}}nats\b", "validation loss: {1}"),
)
"""As `PHRASES`, of words of other languages: they come before those."""
FOREIGN = _words_for("loss")
"""By which word of a line it is known that it speaks of a loss in another language."""
ANY_FOREIGN = "|".join(map(_words_for, dict.fromkeys(ABROAD.values())))
"""By which it is known that a log has words to translate, if the loss is called so in English."""

_LOSS_WORD = (
    rf"(?:\b(?:(?:train|val|valid|validation|test)_)?loss\b|{FOREIGN}"
    rf"|{_words_for('train_loss')}|{_words_for('validation_loss')})"
)
DECIMAL_COMMA = (
    rf"{_LOSS_WORD}[a-zà-ÿ _]{{0,30}}[:=]?\s{{0,9}}"
    r"(?:0,[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))(?:[^0-9.,]|[.,](?:\s|$)|$)"
)
"""A loss with a comma before its decimals: that of thousands has three digits behind it, and no 0 before."""
WITH_POINTS = ((r"([0-9]),([0-9]+)([^0-9.,]|[.,](?:\s|$)|$)", "{1}.{2}{3}"),)
"""As `PHRASES`, with a point before the decimals: for a log that has a comma there."""

_GROUP = re.compile(r"\{([0-9])\}")


@lru_cache(maxsize=256)  # a launcher says the same again and again
def in_pairs(line: str) -> str:
    """The line with its phrases as pairs."""
    for pattern, pairs in _compiled():
        line = pattern.sub(pairs, line)
    return line


@cache  # not when the reader is imported: few files come so far
def _compiled() -> list[tuple[re.Pattern[str], str]]:
    """The phrases in Python's language."""
    return [
        (re.compile(pattern, re.IGNORECASE), _GROUP.sub(r"\\g<\1>", pairs))
        for pattern, pairs in (*TRANSLATED, *PHRASES)
    ]


def for_polars(pairs: str) -> str:
    """The pairs that a pattern means, as polars writes groups."""
    return _GROUP.sub(r"${\1}", pairs)
