"""Text from outside, safe to draw: what would steer a terminal becomes a visible sign."""

import re

STEERING = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
"""What would steer a terminal, as a pattern: control characters, marks that end a line or turn the direction
of writing, and lone surrogates."""

_STEERING = re.compile(STEERING)


def plain(text: str, *, lines: bool = False) -> str:
    """Text from a log or a learner, safe to draw: what would steer a terminal becomes a visible sign.

    Control characters become their pictures (escape is "␛"); marks that turn the direction of writing and
    lone surrogates become "\ufffd". With `lines`, line ends stay and a tab is four spaces.
    """
    if text.isprintable():  # as nearly all is, and told in no time
        return text
    if lines:
        return "\n".join(plain(line) for line in text.replace("\t", "    ").split("\n"))
    return _STEERING.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
