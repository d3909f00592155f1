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
    settings = {setting.name: setting.cli or [] for setting in KNOWN_SETTINGS}
    # One that another function has made is called as that.
    validators = {
        setting.name: setting.validator.__qualname__.partition(".")[0] for setting in KNOWN_SETTINGS
    }
    content = {
        "version": __version__,
        "settings": dict(sorted(settings.items())),
        "validators": dict(sorted(validators.items())),
        "flags": sorted(
            word
            for setting in KNOWN_SETTINGS
            if setting.nargs == "?" or (setting.action or "").startswith("store_")
            for word in setting.cli or ()
        ),
        "worker_classes": sorted(SUPPORTED_WORKERS),
    }
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
