"""Callbacks that record a run of another library's trainer in a run folder; one module a library.

    from tutor.callbacks.huggingface import TutorCallback    Trainer(..., callbacks=[TutorCallback("runs/mine")])
    from tutor.callbacks.lightning import TutorCallback      Trainer(..., callbacks=[TutorCallback("runs/mine")])
    from tutor.callbacks.keras import TutorCallback          model.fit(..., callbacks=[TutorCallback("runs/mine")])

Each imports its library; this module imports none.
"""
