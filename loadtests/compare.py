"""
Compare server profiles inside Locust: the same experiment as `lab run`, with Locust's web UI.

    locust -f loadtests/                                     choose profiles in the web form
    locust -f loadtests/ --headless                          the whole ladder, in the terminal
    locust -f loadtests/ --headless --profiles listen tuned --blocks 5 --window 2
    locust -f loadtests/ --headless -H http://127.0.0.1:8080 -t 10s    load a running server
    locust -f loadtests/ --lab-help                          what can be asked for

The options are those of `lab run`, and `-u` says how many connections there are; what
`locust --help` prints are Locust's own.

In the web UI the tab Profiles shows a row for each profile while the run goes on; the page
/profiles/ shows the report of the blocks so far: intervals, causes, why trials do not count. Keep
that page open rather than Locust's charts: drawing those takes up to a core, and if the browser is
on the machine that is measured, its trials do not count.

`--processes 2`, and `--master` with `--worker`, make the same load from several processes; with
`--bind` these may be on other machines.

What these two classes do is in `lab.locust`, and what `--workload` names lies in `workloads/`.
Locust executes every .py file below this folder whose name does not begin with "_", as those of
applications therefore do; that of a backing service does nothing then.
"""

from lab.locust import ComparisonShape, Connection


class Client(Connection):
    """One connection of the load; `-u` says how many (default: 64)."""


class CompareProfiles(ComparisonShape):
    """Starts, loads and stops a server for each trial; says what changed, and if it counts."""
