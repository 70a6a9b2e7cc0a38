"""Fuzzing: whatever a file holds, what reads it says so in words, in time and in bounded memory.

    make fuzz                                          every target, a while each
    python -m tests.fuzz rows --minutes 60 --seed 3    one of them

A target is one file, `fuzz_NAME.py`; see `target.Target`. An input that fails is kept in `found/NAME/`, where
the quick tests feed it again.
"""
