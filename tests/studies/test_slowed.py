"""The study of slowed servers: its cells, and what it makes of them."""

import pytest

from studies import slowed


def side(throughput, cpu=0.001):
    """Return what a server of a cell measured."""
    return {"throughput": throughput, "cpu": cpu, "p50": 0.01, "cpu_ratio": 1.0, "others": 0.0}


def test_a_cell_measures_both_servers(tmp_path):
    """On whole CPUs, so that nothing is slowed down beside other tests."""
    (tmp_path / "handler.py").write_text(slowed.HANDLER)
    measured = slowed.cell(tmp_path, "2 threads", 1.0, 1)
    assert {name: figures["throughput"] > 0 for name, figures in measured.items()} == {
        "reference": True,
        "changed": True,
    }


def test_cpus_used_do_not_depend_on_the_speed_of_the_machine():
    """A request that takes twice the CPU in one of two trials, as half of it is served."""
    cells = [
        {"case": "2 processes", "share": 0.25, "round": 0, "reference": side(100.0)}
        | {"changed": side(100.0, cpu=0.002)},
        {"case": "2 processes", "share": 0.25, "round": 1, "reference": side(100.0)}
        | {"changed": side(190.0)},
    ]
    (summary,) = slowed.agreement(cells)
    assert summary["used"] == pytest.approx([1.9, 1.95, 2.0])
    assert summary["rate"] == pytest.approx([1.0, 1.45, 1.9])
