"""Fixes: what mends the flaw of a leaf: as commands where tutor trained the run, else by hand."""

from collections.abc import Iterator

from textual.content import Content

from tutor import walk as walks
from tutor.run.verification import Verification
from tutor.saying import lead_of, of_fix
from tutor.saying.verified import heading
from tutor.walk import AtLeaf
from tutor.words import plain, say

Part = tuple[str, str]
"""Words and their style."""


def told(walk: AtLeaf, tried: Verification | None, lang: str) -> Content | None:
    """The fixes of the walk's leaf, the smallest first, and what comes after; None where it has none.

    Args:
        walk: at its leaf.
        tried: what came of the fix that was tried last.
        lang: the language.
    """
    parts = list(_fixes(walk, lang))
    if tried is not None:
        parts.append((f"{heading(tried, lang)}\n", "bold $success" if tried.verified else "bold $error"))
    elif parts:
        parts += [(f"{line}\n", "$foreground-muted") for line in _after(walk, lang)]
    if walk.leaf.verdict == "flaw" and not walk.leaf.post_mortem:
        parts.append((_no_post_mortem(walk, lang), "$foreground-muted"))
    return Content.assemble(*parts).rstrip() if parts else None


def _fixes(walk: AtLeaf, lang: str) -> Iterator[Part]:
    for number, fix in enumerate(walk.leaf.fixes, 1):
        yield f"{number}  ", "$foreground-muted"
        yield f"{lead_of(fix, lang)} " if number == 1 else "", "bold"
        yield of_fix(walk, fix, lang), ""
        if command := walks.fix_command(walk.run, fix.change):
            yield f"\n   $ {plain(command)}", "$primary"
        elif own := walks.own_settings(walk.run, fix.change):
            yield f"\n   {plain(', '.join(own))}", "$primary"
        yield "\n", ""


def _after(walk: AtLeaf, lang: str) -> Iterator[str]:
    """What to do once a fix is chosen: a run of another trainer can't be trained again here."""
    if not walk.run.manifest.tutor and walks.flawed(walk):
        yield say("leaf.by_hand", lang)
    elif walk.leaf.again:
        yield say("leaf.then_again", lang)


def _no_post_mortem(walk: AtLeaf, lang: str) -> str:
    """Why the leaf has no post-mortem, and what to do instead."""
    if onward := walk.leaf.next:
        return say("leaf.post_mortem_next", lang, tree=onward.tree)
    return say("leaf.no_post_mortem", lang)
