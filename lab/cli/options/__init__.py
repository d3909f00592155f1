"""
What can be asked of a comparison: every option once, for `lab run` and for Locust.

`lab.cli.options.decorators` makes click options of the table, `lab.locust.arguments` makes
arguments for Locust's command line and web form. Both hand what was given over as a `Job`; what
follows from that is decided here, so that the two commands cannot differ.

To add an option, add a field to `lab.cli.options.table.Job`.
"""
