"""Names that tools give the dtype of a forward pass, understood in one place.

PyTorch: `torch.float16`, `half` · Hugging Face: `fp16`, `no` · Lightning: `16-mixed`, `bf16-true`, `32` ·
Keras: `mixed_bfloat16` · Composer: `amp_fp16`.
"""

from typing import Literal, cast

Dtype = Literal["fp32", "bf16", "fp16"]

_PREFIXES = ("torch.", "jnp.", "mixed_", "amp_")
_SUFFIXES = ("-mixed", "-true")
_NAMES = {
    "fp32": ("fp32", "float32", "float", "single", "32", "no"),
    "bf16": ("bf16", "bfloat16"),
    "fp16": ("fp16", "float16", "half", "16"),
}
_BY_NAME = {name: dtype for dtype, names in _NAMES.items() for name in names}


def understood(name: str) -> Dtype | None:
    """The dtype that a tool calls `name`; None for one that no rule speaks of (fp8, int4 ...)."""
    plain = name.strip().lower()
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    for suffix in _SUFFIXES:
        plain = plain.removesuffix(suffix)
    return cast("Dtype | None", _BY_NAME.get(plain))
