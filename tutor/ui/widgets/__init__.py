"""One file per pane of a screen. Attributes go down, messages come up."""
