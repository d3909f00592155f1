"""
Write lab/config/gunicorn/settings.json: gunicorn's settings, and the options that set them.

    python tools/gunicorn_settings.py > lab/config/gunicorn/settings.json

They are those of the gunicorn that is installed.
"""

import json
import sys

from gunicorn import __version__
from gunicorn.config import KNOWN_SETTINGS
from gunicorn.workers import SUPPORTED_WORKERS


def table() -> str:
    """Return the file's text."""
    settings = {each.name: each.cli or [] for each in KNOWN_SETTINGS}
    # One that another function has made is called as that.
    validators = {
        each.name: each.validator.__qualname__.partition(".")[0] for each in KNOWN_SETTINGS
    }
    content = {
        "version": __version__,
        "settings": dict(sorted(settings.items())),
        "validators": dict(sorted(validators.items())),
        "flags": sorted(
            word
            for each in KNOWN_SETTINGS
            if each.nargs == "?" or (each.action or "").startswith("store_")
            for word in each.cli or ()
        ),
        "worker_classes": sorted(SUPPORTED_WORKERS),
    }
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
