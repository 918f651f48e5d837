"""The number of points that are computed at once."""

from collections.abc import Iterator

_ELEMENTS = 200_000


def point_chunks(samples: int, points: int) -> Iterator[slice]:
    """Yield slices of points that keep (sample, point) temporaries near 2 MB, within a cache."""
    width = max(1, _ELEMENTS // samples)
    for start in range(0, points, width):
        yield slice(start, start + width)
