"""The trainer: the only room that imports torch."""
