#!/bin/sh
# Write requirements/*.txt anew: every package that pyproject.toml leads to, with version and hashes.
#
#   tools/lock.sh                     after a change of pyproject.toml; what is pinned stays
#   tools/lock.sh --upgrade           the newest of everything
#   tools/lock.sh --upgrade-package flask
#
# Needs uv (https://docs.astral.sh/uv/). All files have the same version of a package, for Python
# 3.11 and later; but for eventlet, judges, secantusdb and tornado45, whose environments are their own.
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "lock: no uv; install it: pipx install uv" >&2; exit 1; }

lock() {
    name=$1
    shift
    uv pip compile --quiet --universal --python-version "${python:-3.11}" --generate-hashes \
        --no-header --no-annotate --output-file "requirements/$name.txt" "$@"
}

# The largest first: the others get its versions.
lock dev pyproject.toml --extra run --extra peers --extra dev "$@"
lock locust pyproject.toml --extra run --constraint requirements/dev.txt "$@"
# The extra alone: an image that serves has no need of what reads configurations.
for name in service peers articles; do
    python3 -c "import tomllib; extras = tomllib.load(open('pyproject.toml', 'rb'))['project'][
        'optional-dependencies']; print(*extras['$name'], sep='\\n')" |
        lock "$name" - --constraint requirements/dev.txt "$@"
done
lock build --group build --constraint requirements/dev.txt "$@"
lock dist --group dist "$@"
lock site --group site "$@"
lock eventlet --group eventlet "$@"
lock secantusdb --group secantusdb "$@"
lock judges --group judges "$@"
lock framework --group framework --constraint requirements/service.txt "$@"
python=3.6 lock tornado45 --group tornado45 "$@"
