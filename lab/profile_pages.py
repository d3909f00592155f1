"""
Write docs/profiles.md from the headers of the profiles: `.venv/bin/python -m lab.profile_pages`.

Each profile explains itself in its own file; the page puts the explanations in order and adds what
the step changes, as uWSGI resolves it. It is the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lab import profiles
from lab.model import Profile
from lab.servers.launch import ROOT

PAGE = ROOT / "docs" / "profiles.md"

OPENING = """\
# Profiles

One file is one configuration, and `uwsgi profiles/NAME.ini` runs it. Each differs from the one it
is *against* in exactly one step, so that a difference between the two has one cause. All obey
`BIND` and `PORT`, and serve your own application with `WSGI_APP=package.module:callable` and
`WSGI_CHDIR=folder`.

This page is made from the comments in the files: `.venv/bin/python -m lab.profile_pages`.
"""


def render() -> str:
    """
    Return the page.

    Raises:
        ProfileError: A profile cannot be read.
    """
    ladder = profiles.ladder()
    others = [name for name in profiles.find() if name not in ladder]
    read = {name: _without_cpus(profiles.read(name)) for name in (*ladder, *others)}
    parts = [OPENING, "## The ladder\n"]
    parts += [_section(read[name], read, number) for number, name in enumerate(ladder)]
    parts += ["## Off the ladder\n"]
    parts += [_section(read[name], read, None) for name in others]
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


def _section(profile: Profile, read: dict[str, Profile], number: int | None) -> str:
    header = profiles.read_header(profile.path)
    file = _relative(profile.path)
    against = (
        "" if profile.against is None else f" · against [{profile.against}](#{profile.against})"
    )
    lines = [f"### {profile.name}\n", f"**{profile.summary}.**\n"]
    rung = "" if number is None else f"step {number} · "
    lines += [f"{rung}[{file}](../{file}){against}\n"]
    lines += [f"{each}\n" for each in header.paragraphs if each != f"{profile.summary}."]
    if header.default is not None:
        lines += [f"Default: {header.default}\n"]
    if header.link is not None:
        lines += [f"<{header.link}>\n"]
    if changes := _changes(profile, read):
        lines += ["```diff", *changes, "```\n"]
    return "\n".join(lines)


def _changes(profile: Profile, read: dict[str, Profile]) -> Sequence[str]:
    if profile.server != "uwsgi":
        return [f"+ {' '.join(command)}" for command in profile.commands]
    if profile.against is None:
        return [f"+ {key} = {value}" for key, value in profile.options]
    step = profiles.step(profile, read[profile.against])
    changes = [f"- {key} = {value}" for key, value in step.removed]
    changes += [f"+ {key} = {value}" for key, value in step.added]
    for key, before, after in step.changed:
        changes += [f"- {key} = {before}", f"+ {key} = {after}"]
    return changes


def _without_cpus(profile: Profile) -> Profile:
    """Return *profile* with %k for the number of CPUs, which the page must not depend on."""
    lineage = profiles.ladder(profile.name)
    files = [profiles.FOLDER / f"{name}.ini" for name in lineage]
    if not any("processes = %k" in file.read_text() for file in files if file.is_file()):
        return profile
    return replace(
        profile,
        options=tuple(
            (key, "%k" if key == "processes" else value) for key, value in profile.options
        ),
    )


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    main()
