"""The stored evidence says what the documentation claims of it: whoever makes it anew is judged."""

from __future__ import annotations
