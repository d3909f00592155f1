"""
A benchmark of performance checks: how `lab ab` and others judge the same trials.

    python -m benchmarks.judges record --mood quiet --minutes 5    appends to the recording

A recording has versions of one application that need as much CPU, 2, 5 and 10 % more, and 5 % less,
in each mood of a machine (`moods`): quiet, or with a neighbour that this program plants. Its trials
are made by the lab's own runner, so the lab's gates apply to them unchanged.

**How long a recording takes.** A trial takes 1.16 s with a window of 0.6 s: 0.36 s to start and to
stop, 0.2 s of warm-up. A comparison by `lab ab` needs three trials a block and, at the noise of
such a trial (2.8 % of CPU per request, quiet), 9 to 13 blocks; half as many more with a neighbour.
A block has nine trials of the old version, three comparisons of it with itself, and three of
others: 14 s. Every fifth has five pairs for duets instead: 10 s. In 24 minutes of a mood there are
108 blocks, 86 of them of single trials, with 3 x 86 = 258 times old, old again and new: 20 to 28
comparisons. So four moods have 100 of them after 96 minutes.
"""
