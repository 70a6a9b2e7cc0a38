"""Callbacks that record another library's training in a run folder: a module for each, which imports it.

from tutor.callbacks.huggingface import TutorCallback
trainer = Trainer(..., callbacks=[TutorCallback("runs/mine")])

from tutor.callbacks.lightning import TutorCallback
trainer = Trainer(..., callbacks=[TutorCallback("runs/mine")])

from tutor.callbacks.keras import TutorCallback
model.fit(..., callbacks=[TutorCallback("runs/mine")])
"""
