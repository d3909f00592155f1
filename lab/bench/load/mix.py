"""Several requests in one load: the order in which they are made, and what came of each."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Protocol

LENGTH = 1009
"""Requests after which the order begins anew: a prime, so that it keeps step with no number of
connections, and enough for a weight of one in a thousand."""


class _Asking(Protocol):
    """Whoever sends one request after the other, such as a connection."""

    request: bytes
    expected: bytes | None


def order(weights: Sequence[int], seed: int) -> list[int]:
    """
    Return `LENGTH` indices of *weights* in an order that *seed* draws: the same for the same seed.

    Each is in it as often as its weight asks for, and at least once (Sainte-Laguë's method).

    >>> [order([8, 1], 7).count(index) for index in (0, 1)]
    [897, 112]
    """
    counts = [1] * len(weights)
    heap = [(-weight / 3, index) for index, weight in enumerate(weights)]
    heapq.heapify(heap)
    for _ in range(LENGTH - len(weights)):
        index = heap[0][1]
        counts[index] += 1
        heapq.heapreplace(heap, (-weights[index] / (2 * counts[index] + 1), index))
    indices = [index for index, count in enumerate(counts) for _ in range(count)]
    random.Random(seed).shuffle(indices)
    return indices


class Mix:
    """
    Gives each connection its next request when the one before has its outcome.

    Args:
        sequence: The requests in their order, from the first to give on; it begins anew.
        latency: Of each request, where its right replies are counted: see `Recorder.latency_of`.
        kept: Whether the connection may be used again after a usual reply.
    """

    __slots__ = ("_expected", "_good", "_kept", "_latency", "_next")

    def __init__(
        self, sequence: Sequence[bytes], latency: Mapping[bytes, dict[int, int]], *, kept: bool
    ) -> None:
        self._next = cycle(sequence).__next__
        self._latency = latency
        self._kept = kept
        self._good: dict[bytes, tuple[bytes, bool]] = {}
        # The same where the connection is kept or closed as usual: then nothing else is looked at.
        self._expected: dict[bytes, bytes | None] = dict.fromkeys(sequence)

    def learn(self, request: bytes, data: bytes, *, reusable: bool) -> None:
        """Remember a right reply that came in one piece."""
        self._good[request] = data, reusable
        self._expected[request] = data if reusable == self._kept else None

    def known(self, request: bytes, data: bytes) -> bool | None:
        """Return whether the connection may be used again if *data* is a right reply, else None."""
        good, reusable = self._good.get(request, (None, False))
        return reusable if data == good else None

    def answered(self, slot: _Asking, us: int) -> int:
        """
        Count a right reply in the bucket *us*, and give *slot* its next request.

        Returns:
            The bytes of that.
        """
        request = slot.request
        latency = self._latency[request]
        latency[us] = latency.get(us, 0) + 1
        slot.request = request = self._next()
        slot.expected = self._expected[request]
        return len(request)

    def give(self, slot: _Asking) -> None:
        """Give *slot* its next request."""
        slot.request = request = self._next()
        slot.expected = self._expected[request]
