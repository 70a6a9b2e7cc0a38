"""The screens of tutor: the only room that imports textual."""
