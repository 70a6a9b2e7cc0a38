"""The recorder: a run folder of anyone's PyTorch loop, in three lines.

    recorder = Recorder("runs/mine", model, optimizer)
    ...
        recorder.step(loss)         once per optimizer step, in a loop that stays as it is
    recorder.close()

It hears of the rest by hooks: of the hidden streams from the model, of the update from the optimizer. Nothing
waits for the device but the writing of each lot of rows.
"""

from tutor.lab.recorder.recorder import Recorder

__all__ = ["Recorder"]
