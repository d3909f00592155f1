"""matplotlib, which draws the figures and leaves nothing in the user's home."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import tempfile

FOLDER = "MPLCONFIGDIR"
"""Variable that names the folder of its settings and its list of fonts; by default it is in HOME.
Whoever sets it saves a second at each start, in which the fonts are listed."""


def load_matplotlib() -> None:
    """Import it; a user's own settings of it change no figure."""
    logging.getLogger("matplotlib").setLevel(logging.WARNING)  # Locust prints the rest
    if "matplotlib" in sys.modules or FOLDER in os.environ:
        return
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        os.environ[FOLDER] = folder
        try:
            importlib.import_module("matplotlib.font_manager")  # asks once for the folder
        finally:
            del os.environ[FOLDER]  # servers inherit the rest
