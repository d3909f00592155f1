"""
A benchmark of performance checks: how `lab ab` and others judge the same trials.

    python -m studies.judges record --mood quiet --minutes 5    appends to the recording;
                                       --alike: the old version alone
    python -m studies.judges count                              instructions, by valgrind
    python -m studies.judges judge                              writes the results

A recording has versions of one application that need as much CPU, 2, 5 and 10 % more, and 5 % less,
in each mood of a machine (`moods`): quiet, or with a neighbour that this program plants. Its trials
are made by the lab's own runner, so the lab's gates apply to them unchanged. `others`, `paired`,
`own` and `counts` are the judges, `cut` gives each its comparisons.

**How long a recording takes.** A trial takes 1.16 s with a window of 0.6 s: 0.36 s to start and to
stop, 0.2 s of warm-up. Shorter windows are no use: CPU comes in ticks of 10 ms, which at 0.3 s are
2.7 % of noise by themselves, at 0.6 s 1.4 %. A block has nine trials of the old version, three
comparisons of it with itself, and three of others: 14 s. Every fifth has five pairs for duets
instead: 10 s. So 24 minutes of a mood have 110 blocks, 88 of them of single trials, with 264 times
old, old again and new.

`studies/results/judges-recording.tar.xz` is what has been recorded so far. To go on on a machine
of its kind, unpack it, and name its folder with `--recording`.
"""
