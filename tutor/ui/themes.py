"""Themes: one dark and one light, calm; the accent is for what is at hand and nothing else."""

from textual.theme import Theme

DARK = Theme(
    name="tutor-dark",
    primary="#7aa2c8",
    secondary="#8fa3b8",
    accent="#e0a458",
    success="#8fbf8f",
    warning="#e0a458",
    error="#e07a6a",
    foreground="#d8dee6",
    background="#14181d",
    surface="#14181d",
    panel="#1d232a",
    dark=True,
    variables={"foreground-muted": "#8a97a6", "rule": "#3a4552", "border": "#3a4552"},
)

LIGHT = Theme(
    name="tutor-light",
    primary="#2f5f8f",
    secondary="#5a6b7d",
    accent="#a85a00",
    success="#2f7d3a",
    warning="#a85a00",
    error="#b3352a",
    foreground="#1f2933",
    background="#fbfaf7",
    surface="#fbfaf7",
    panel="#efece5",
    dark=False,
    variables={"foreground-muted": "#5f6b78", "rule": "#c3c8cf", "border": "#c3c8cf"},
)
