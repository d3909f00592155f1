#!/bin/sh
# Make and store the runs that compare ASGI servers, then write the figures of the pages.
#
#   tools/asgi_runs.sh               all of them: 45 minutes of a machine on which nothing else runs
#   tools/asgi_runs.sh asgi-cpu      one of them again
#
# A run that ends with exit status 3, as on a busy machine, is not stored: the last lines name it.
set -eu
cd "$(dirname "$0")/.."
lab=.venv/bin/lab
servers='uvicorn gunicorn-asgi granian-asgi hypercorn'
results=results/asgi-servers
failed=
[ $# -gt 0 ] || set -- asgi-hello asgi-fib asgi-await asgi-def asgi-cpu asgi-echo asgi-stream asgi-stress
for name in "$@"; do
    echo "asgi_runs: $name" >&2
    rm -rf "${results:?}/$name"
    mkdir -p "$results/$name"
    case $name in
        asgi-hello | asgi-fib) workload=${name#asgi-} ;;
        asgi-stress)
            # Faults that any server can have; those of uWSGI's options are left out.
            # shellcheck disable=SC2086 # a list of names
            if $lab stress $servers --fault reload --fault kill --fault drain --fault slow-clients \
                --fault accept-queue --output "$results/$name/result.json"; then
                mv "$results/$name/result.json" "docs/runs/$name.json"
            else
                failed="$failed $name"
            fi
            continue ;;
        *) workload=$name ;;
    esac
    # One core for the server: on two slowed CPUs one worker of uvicorn has most of the connections and
    # the other has nothing to do, so that these trials do not count. On these machines 6 rounds left
    # 24% of noise; what the page says of needs less.
    case $name in asgi-hello | asgi-fib | asgi-cpu | asgi-stream) size='--blocks 16 --window 4s' ;; *) size='--blocks 10' ;; esac
    # shellcheck disable=SC2086 # lists of words
    if $lab run $servers --workload "$workload" --server-share 100% $size \
        --smallest 20% --no-confirm --results "$results/$name"; then
        .venv/bin/python tools/store_run.py "$results/$name"/*-* "$name"
    else
        failed="$failed $name"
    fi
done
.venv/bin/python -m tools.pages
[ -z "$failed" ] || {
    echo "asgi_runs: not stored (why is above); again: tools/asgi_runs.sh$failed" >&2
    exit 3
}
