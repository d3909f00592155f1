#!/bin/sh
# Install what only tests need, where nobody has to be asked; elsewhere those tests are skipped.
set -eu
missing=
command -v valgrind >/dev/null || missing="$missing valgrind"
# In sbin, which is not on everybody's PATH.
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing="$missing nginx-light"
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then root=; else root='sudo -n'; fi
if [ -z "$root" ] || $root true 2>/dev/null; then
    printf 'test: installing%s\n' "$missing" >&2
    # shellcheck disable=SC2086 # a list of names
    { $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing >&2; } || true
fi
