#!/bin/sh
# Do two commits say the same of every stored run? `tools/same_reports.sh OLD NEW` compares, byte for
# byte, what `lab report RUN --markdown` and `--json` print of each run in docs/runs of NEW.
#
# Both run with this checkout's .venv, each from a tree of its own that is removed afterwards. Ends
# with 1 and the differences where there are any.
set -eu
[ $# = 2 ] || { echo "usage: tools/same_reports.sh OLD NEW" >&2; exit 2; }
root=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
for commit in "$1" "$2"; do
    mkdir -p "$folder/tree/$commit" "$folder/said/$commit"
    git -C "$root" archive "$commit" | tar -x -C "$folder/tree/$commit"
done
for run in "$folder/tree/$2"/docs/runs/*/run.json; do
    run=$(dirname "$run")
    for form in markdown json; do
        for commit in "$1" "$2"; do
            # The program's own folder comes first on the path.
            code=0
            (cd "$folder/tree/$commit" && PYTHONPATH=. "$root/.venv/bin/python" -P -c "from lab.cli import main; main()" \
                report "$run" "--$form" >"$folder/said/$commit/$(basename "$run").$form" 2>&1) || code=$?
            # 1, 3 and 99 are verdicts, too. A report that is not made, by both, is no report that is the same.
            if grep -qE "^(lab: |Traceback )" "$folder/said/$commit/$(basename "$run").$form"; then
                echo "$commit: no report of $(basename "$run"): $code"
                status=1
            fi
        done
        diff -u "$folder/said/$1/$(basename "$run").$form" "$folder/said/$2/$(basename "$run").$form" \
            || status=1
    done
done
[ $status = 1 ] || echo "the same, of $(ls "$folder/said/$2" | wc -l) reports"
exit $status
