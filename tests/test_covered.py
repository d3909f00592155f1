"""What `make coverage` counts."""

from tools.covered import FLOORS, shares_of


def summary(**counts):
    """Return what coverage says of one file."""
    of_file = {"covered_lines": 0, "covered_branches": 0, "num_statements": 10, "num_branches": 0}
    return of_file | counts


def test_a_package_has_the_lines_and_branches_of_its_files():
    """Two files with 20 lines and 4 branches, of which 15 and 3 were run, are 75 %."""
    files = dict.fromkeys((f"lab/{package}/__init__.py" for package in FLOORS), summary())
    files |= {
        "lab/model/__init__.py": summary(covered_lines=10, covered_branches=3, num_branches=4),
        "lab/model/plan.py": summary(covered_lines=5),
        "lab/errors.py": summary(covered_lines=1),
    }
    shares = shares_of(files)
    assert shares == dict.fromkeys(FLOORS, 0.0) | {"model": 75.0}
