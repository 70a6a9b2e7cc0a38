"""Columns that say of which run a row is, `Model,Epoch,Loss`, by their names alone."""

from tutor.run.names import spelled

_RUNS = {
    *(
        "run",
        "run_id",
        "run_name",
        "name",
        "experiment",
        "experiment_name",
        "exp",
        "exp_name",
        "trial",
        "fold",
    ),
    *("seed", "model", "model_name", "architecture", "arch", "backbone", "network", "method", "algorithm"),
    *("optimizer", "activation", "config", "variant", "setting", "dataset", "task"),
}
"""What such a column is called, as `names.spelled` has it."""


def says_run(column: str) -> bool:
    """Whether a column may say of which run a row is."""
    return spelled(column) in _RUNS
