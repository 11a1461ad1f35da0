"""Ratings and performances, as the other scripts in this directory check them."""

import statistics


def rating(text):
    """The rating in a tag."""
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else None


def half_up(number, by):
    return (2 * number + by) // (2 * by)


def mean(ratings):
    return half_up(sum(ratings), len(ratings)) if ratings else None


def hold_performance(performance, against, what):
    """Compares a performance with that of games, each given as the opponent's rating and the score in half points."""
    if not against:
        assert performance is None, what
        return
    percent = half_up(100 * sum(points for _, points in against), 2 * len(against))
    above = performance - mean([rating for rating, _ in against])
    if 3 <= percent <= 97:
        # FIDE's table follows a normal distribution.
        assert abs(above - statistics.NormalDist().inv_cdf(percent / 100) * 2000 / 7) < 3, (what, percent, above)
    else:
        assert 580 < abs(above) <= 800 and (above > 0) == (percent > 50), (what, percent, above)
