"""The words that trainers use in the names of their columns, as tables.

Sources: the trainers' own code and logs, as listed in the README's table of formats.
"""

from collections.abc import Mapping

KNOWN: Mapping[str, tuple[str, ...]] = {
    "step": (
        "step",
        "train/global_step",  # Weights & Biases under Hugging Face, where `_step` counts calls
        "global_step",
        "trainer/global_step",
        "iteration",
        "iter",
        "num_updates",
        "current_steps",
        "steps",
        "_step",
        "time/total_timesteps",
        "total/steps",  # of OpenAI baselines
        "total_timesteps",
        "timesteps",
        "timestep",
        "num_timesteps",
        "env_steps",
        "env_step",
        "total_env_steps",
        "num_env_steps",
        "global_iter",
        "global_iteration",
        "train_step",
        "training_step",
        "current_step",
        "optimizer_step",
        "update",
        "epoch",
        "ep",
        "itr",
        "episode",
        "time/iterations",
        "time/episodes",
        "round",  # of federated learning
        "cycle",
        "generation",
        "frame",  # of a game that is learned
        "frames",
        "num_frames",
        "total_frames",
        "env_frames",
    ),
    "loss": (
        "loss",
        "train_loss",
        "training_loss",
        "train/loss",
        "train_loss_step",
        "train/loss_step",
        "loss_step",
        "lm loss",
        "lm-loss",
        "lm_loss",
        "train/train_loss",
        "loss/train",
        "loss_metrics/global_avg_loss",
        "mean_loss",
        "average_loss",
        "avg_loss",
        "total_loss",
        "tot_loss",
        "train/total_loss",
        "loss/total_loss",  # TensorFlow's object detection
        "loss/total",
        "loss_total",
        "train/loss_total",
        "losses/total",
        "train_loss_epoch",
        "train/loss_epoch",
        "train/samples/train_loss",
        "train/value_loss",  # of stable-baselines3's algorithms without one loss
        "train/critic_loss",
        "train/loss_critic",
        "xent",  # OpenNMT's
        "cross_entropy",
        "train_cross_entropy",
        "train_cross_entropy_step",
        "train_cross_entropy_epoch",
        "train_total",
        "train/total",
        "l_pix",  # BasicSR's
        "l_total",
    ),
    "val_loss": (
        "val_loss",
        "eval_loss",
        "eval/loss",
        "val/loss",
        "valid_loss",
        "valid/loss",
        "validation_loss",
        "validation/loss",
        "loss/val",
        "val_loss_epoch",
        "val_cross_entropy",
        "val_cross_entropy_epoch",
        "val_total",
        "val/total",
        "test_loss",
        "valloss",
    ),
    "grad_norm": (
        "grad_norm",
        "train/grad_norm",
        "grad norm",
        "gnorm",
        "gradient_norm",
        "norm",
        "grad_norms",
        "gradient_norms",
        "gradnorm",
        "grad",
        "grad_norm_mean",
        "mean_grad_norm",
        "avg_grad_norm",
        "g_norm",
        "global_grad_norm",
        "total_norm",  # what PyTorch's clip_grad_norm_ calls it
        "grad_l2_norm",
    ),
    "lr": (
        "lr",
        "learning_rate",
        "train/learning_rate",
        "train/lr",
        "train_lr",
        "learning rate",
        "lr/pg0",
        "x/lr0",
        "train/samples/lr",
        "train/lrm",  # the part of it that a schedule grants
        "lrs",
        "learning_rates",
        "current_lr",
        "cur_lr",
        "lr_now",
    ),
    "loss_scale": ("loss_scale", "loss scale", "train/loss_scale", "train/samples/loss_scale"),
    "skipped_steps": ("skipped_steps",),
    "tokens_per_second": ("tokens_per_second", "tok/sec", "tok/s", "tokens/sec", "train/tokens_per_second"),
}
"""By signal, what it is called; the first that a log has is taken. However it is spelled: see `spelled`."""

ABROAD: Mapping[str, str] = {
    **dict.fromkeys(("pérdida", "perdida", "perda", "perdita", "perte", "verlust", "pierdere"), "loss"),
    **dict.fromkeys(("paso", "passo", "pas", "schritt", "étape", "etape"), "step"),
    **dict.fromkeys(
        ("iteración", "iteracion", "iteração", "iteracao", "iterazione", "itération"), "iteration"
    ),
    **dict.fromkeys(("época", "epoca", "époque", "epoque", "epoche"), "epoch"),
    **dict.fromkeys(("validación", "validacion", "validação", "validacao"), "validation"),
    **dict.fromkeys(("validierung", "validazione", "validare"), "validation"),
    **dict.fromkeys(("entrenamiento", "treino", "treinamento", "entraînement", "entrainement"), "train"),
    **dict.fromkeys(("addestramento", "antrenare"), "train"),
    **{
        "trainingsverlust": "train_loss",
        "validierungsverlust": "validation_loss",
        "testverlust": "test_loss",
        "trainingsfehler": "train_error",
        "validierungsfehler": "validation_error",
        "testfehler": "test_error",
    },
    **{"lernrate": "learning_rate", "epochen": "epochs", "schritte": "steps"},
    **dict.fromkeys(("exactitud", "precisión", "acurácia", "acuracia", "genauigkeit"), "accuracy"),
}
"""Words of Spanish, Portuguese, French, Italian, German and Romanian, and the English ones that they mean."""
OF = {"de", "du", "di", "do", "da"}
"""The word between two of those, which English has no need of: `pérdida de validación`."""

ALIKE: Mapping[str, str] = {
    **{"training": "train", "trn": "train", "validation": "val", "valid": "val", "evaluation": "eval"},
    **{"evaluated": "eval", "validated": "val", "tested": "test", "trained": "train"},
    **{"losses": "loss", "epochs": "epoch", "steps": "step", "iterations": "iteration", "iters": "iter"},
    **{"episodes": "episode", "tr": "train", "va": "val", "te": "test"},
}
"""One word for those that mean the same."""
