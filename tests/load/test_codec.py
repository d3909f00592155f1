"""Windows as JSON."""

import json

import pytest

from lab.bench.load.codec import decode_window, encode_window
from lab.model.measurement import Window

WINDOW = Window(
    process=7,
    wall=3.0000001,
    ok=3,
    errors={"body": 1},
    unfinished=2,
    retried=1,
    connections=4,
    replies=(2, 0, 1),
    received=333,
    latency={512: 1, 96: 2},
    latency_sum=0.0007,
    cpu=0.5,
    wait=0.25,
)


def test_window_survives_json():
    """A window read back from JSON text is the window that was written."""
    assert decode_window(json.loads(json.dumps(encode_window(WINDOW)))) == WINDOW


@pytest.mark.parametrize(("field", "value"), [("latency", [1]), ("ok", None), ("replies", 3)])
def test_field_of_the_wrong_kind(field, value):
    """A damaged window is refused, and the field is named."""
    with pytest.raises(ValueError, match=field):
        decode_window({**encode_window(WINDOW), field: value})


def test_missing_field():
    """A window without one of its counts is refused, and not completed by 0."""
    encoded = encode_window(WINDOW)
    del encoded["unfinished"]
    with pytest.raises(ValueError, match="unfinished"):
        decode_window(encoded)
