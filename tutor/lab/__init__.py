"""The trainer: the only room that imports torch."""

import warnings

# torch looks for NumPy as it loads and warns where there is none; the lab has no use for it.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
