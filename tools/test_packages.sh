#!/bin/sh
# Install what only a test needs, where nobody has to be asked; elsewhere that test is skipped.
set -eu
command -v valgrind >/dev/null && exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then root=; else root='sudo -n'; fi
if [ -z "$root" ] || $root true 2>/dev/null; then
    printf 'test: installing valgrind, to count instructions\n' >&2
    { $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends valgrind >&2; } || true
fi
