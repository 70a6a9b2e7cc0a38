"""What columns of scores and rewards are called: what rises as a model learns, and what each kind counts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from tutor.run.names import LOSS, is_of_a_side, is_term, measured, spelled

SCORES = "scores"
"""What a question asks about whose rule looks at the scores of a log: no signal has that name."""

_REWARD = re.compile(
    r"(?<![a-z])(ep(isode)?_?)?(rew|reward|return)s?(?![a-z/])|eprewmean"
    r"|^((ep(isode)?|(average|avg|mean)[0-9]*|total|cumulative|running)[_ ])*scores?$"
)
"""Columns of what an episode, or an answer, earns; `rewards/margins` of preference tuning is none."""
_OVER_EPISODES = re.compile(r"(?<![a-z])(mean|avg|average)(?![a-z])|eprewmean")
"""Words of a reward that is a mean over episodes."""
_COMPARED = re.compile(r"^(eval_)?rewards/(margins|accuracies|chosen|rejected)$")
_STD = re.compile(r"(?<![a-z])std(?![a-z])")
_SPREAD = re.compile(r"(?<![a-z])(std|var|min|max|best|loss|norm)(?![a-z])")
"""Words of a column that is about rewards, and doesn't say how high they usually are."""
_SHARES = (
    r"acc|accuracy|(?:acc|prec|top)[@_]?1|f1|auc|auroc|iou|miou|dice|m_?ap[0-9]*|(?:win|success)[_ -]?rate"
    r"|(?:average|avg)[_ ]prec[a-z]*"
)
_SHARE = re.compile(rf"(?<![a-z])({_SHARES})(?![a-z])")
_NEGATED = re.compile(r"(?<![a-z])neg(ative)?(?![a-z])")
"""A score with its sign turned, as a loss."""
_SCORE = re.compile(
    rf"(?<![a-z])({_SHARES}|mcc|bleu|rouge[a-z0-9]*|meteor|cider|r2|psnr|ssim|ndcg|mrr"
    r"|(?:si_?)?sdr|si_?snr|pesq|stoi)(?![a-z])"
)
_ACCURACY = re.compile(r"(?<![a-z])(acc|accuracy)(?![a-z])", re.IGNORECASE)
_WRONG = re.compile(
    r"^((train|val|valid|eval|test|dev)_)?"
    r"(class(ification)?_err(or)?|err(or)?_rate|top_?[15]_err(or)?|err)$"
)
_FOUND = re.compile(r"(?<![a-z])(f1|mcc|iou|dice|precision|recall)(?![a-z])", re.IGNORECASE)
_EXPLAINED = re.compile(r"(?<![a-z])(r2|r[ _-]?squared)(?![a-z])", re.IGNORECASE)
_RANKED = re.compile(
    r"(?<![a-z])(?<!pr[ _-])(auc|auroc|rocauc)(?![a-z])(?![ _-]prc?(?![a-z]))", re.IGNORECASE
)
_ERROR = re.compile(r"(?<![a-z])(wer|cer|eer)(?![a-z])", re.IGNORECASE)
_TRANSCRIBED = re.compile(r"(?<![a-z])(wer|cer)(?![a-z])", re.IGNORECASE)
_MEAN = re.compile(r"(?:avg|average|ave)_?[0-9]*$|mean_?[0-9]+$")
"""A mean of nothing that is named; `mean` alone may be a normaliser's."""
_EPISODES = {"episode", "episodes"}
_PAIR = 2


def is_reward(column: str) -> bool:
    """Whether the column is how much an episode, or an answer, usually earns."""
    name = spelled(column)
    return bool(_REWARD.search(name)) and not _SPREAD.search(name)


def over_episodes(column: str) -> bool:
    """Whether a reward is a mean over episodes, by its name, and not what a single one earns."""
    return bool(_OVER_EPISODES.search(spelled(column)))


def means_of_rewards(columns: Iterable[str], *, lossless: bool) -> dict[str, str]:
    """The columns that are called a mean, and of nothing, with what they are of where a log has rewards.

    `avg100` beside `reward`; or `Avg` of a log of episodes that is `lossless`, without any loss.
    """
    given = [*columns]
    rewards = any(map(is_reward, given)) or (lossless and bool(_EPISODES & {*map(spelled, given)}))
    means = [one for one in given if _MEAN.match(spelled(one))] if rewards else []
    return {one: f"{one} reward" for one in means if f"{one} reward" not in given}


def compares(column: str) -> bool:
    """Whether the column holds two answers of a pair against each other, as `rewards/margins` does."""
    return bool(_COMPARED.search(spelled(column)))


def spreads_reward(column: str) -> bool:
    """Whether the column is how far the rewards of answers to one prompt lie apart."""
    name = spelled(column)
    return bool(_REWARD.search(name) and _STD.search(name))


def is_score(column: str) -> bool:
    """Whether the column is the higher the better the answers are, whatever else is traded for it."""
    name = spelled(column)
    return bool(_SCORE.search(name)) and not _NEGATED.search(name)


def is_share(column: str) -> bool:
    """Whether the column is a score that is a part of 1, or of 100: how far two are apart is plain."""
    return bool(_SHARE.search(spelled(column)))


def rises(column: str) -> bool:
    """Whether the column is a score or a reward, which rises as a model learns, and no loss."""
    return (is_reward(column) or is_score(column)) and not LOSS.search(spelled(column))


def among(columns: Iterable[str]) -> list[str]:
    """The columns that rise as a model learns, those first that stand beside others of the same measure."""
    found = [column for column in columns if rises(column)]
    alike = Counter(map(measured, found))
    return sorted(found, key=lambda column: alike[measured(column)] < _PAIR)


def whole(highest: float) -> float:
    """What a score is at best, given its highest value: 100 where it is logged in percent, else 1."""
    return 100.0 if highest > 1 else 1.0


def is_accuracy(column: str) -> bool:
    """Whether the column is the share of right answers."""
    return bool(_ACCURACY.search(column))


def counts_answers(column: str) -> bool:
    """Whether the column is the share of right answers, or of wrong ones."""
    return is_accuracy(column) or bool(_WRONG.search(spelled(column)))


def is_of_finds(column: str) -> bool:
    """Whether the column is 0 where nothing is found, whatever there was to find: F1, IoU, recall."""
    return bool(_FOUND.search(column))


def is_explained(column: str) -> bool:
    """Whether the column is R², the share of variance that is explained: 0 where all inputs get the mean."""
    return bool(_EXPLAINED.search(column))


def is_ranking(column: str) -> bool:
    """Whether the column is an area under the ROC curve: how often a positive input stands above a negative
    one, which is half of the time where it is left to chance.
    """
    return bool(_RANKED.search(column))


def is_error(column: str) -> bool:
    """Whether the column is an error rate, of words, characters or speakers: the lower the better."""
    return bool(_ERROR.search(column))


def is_transcribed(column: str) -> bool:
    """Whether the column is the share of words, or characters, that are written down wrong.

    Above 1 where more are written down than were said.
    """
    return bool(_TRANSCRIBED.search(column))


def is_alike(column: str) -> bool:
    """Whether the column is the share of groups of answers of which all earn the same, as TRL logs it."""
    return spelled(column).endswith("frac_reward_zero_std")


def is_cut_off(column: str) -> bool:
    """Whether the column is the share of answers that are cut off at the greatest length, by TRL or verl."""
    return spelled(column).endswith(("completions/clipped_ratio", "response_length/clip_ratio"))


KINDS: Mapping[str, Callable[[str], bool]] = {
    SCORES: rises,
    "rewards": is_reward,
    "finds": is_of_finds,
    "explained": is_explained,
    "ranking": is_ranking,
    "groups": is_alike,
    "lengths": is_cut_off,
    "sides": is_of_a_side,
    "terms": is_term,
    "transcribed": is_transcribed,
}
"""By what a tree calls it, the test of a column's name."""
