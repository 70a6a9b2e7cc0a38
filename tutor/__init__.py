"""tutor: learn to diagnose neural-network training that goes wrong. Nothing is imported here: rooms are."""

__version__ = "0.1.0"
