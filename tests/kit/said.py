"""What a report says of what was found."""

from lab.report.warnings import told


def warned(summary):
    """Return what a run warns of, in words."""
    return tuple(map(told, summary.warnings))
