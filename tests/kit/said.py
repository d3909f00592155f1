"""What a report says of what was found."""

from lab.report.warnings import with_status


def warned(summary):
    """Return what a run warns of, in words."""
    return tuple(map(with_status, summary.warnings))
