"""Ratings and performances, as the other scripts of this directory hold them."""

import statistics


def rating(text):
    """A rating that a tag tells."""
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else None


def half_up(number, by):
    return (2 * number + by) // (2 * by)


def mean(ratings):
    return half_up(sum(ratings), len(ratings)) if ratings else None


def hold_performance(performance, against, what):
    """Holds a performance to be that of games, each with the opponent's rating and what was scored in half points."""
    if not against:
        assert performance is None, what
        return
    percent = half_up(100 * sum(points for _, points in against), 2 * len(against))
    above = performance - mean([rating for rating, _ in against])
    if 3 <= percent <= 97:
        # The table of FIDE is one of the normal distribution.
        assert abs(above - statistics.NormalDist().inv_cdf(percent / 100) * 2000 / 7) < 3, (what, percent, above)
    else:
        assert 580 < abs(above) <= 800 and (above > 0) == (percent > 50), (what, percent, above)
