"""Seconds of searches and runs, for Prometheus and the log, without names or texts of users."""

import logging
import time
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from viz.app.cache.memory import server_wide

SECONDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0)
"""Bounds of the buckets from which Prometheus computes p50 and p95."""

_LOG = logging.getLogger(__name__)


class Metrics:
    """Counts of the server while it works; made once, by `metrics`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        histogram = partial(Histogram, registry=self.registry, buckets=SECONDS)
        self.search_seconds = histogram(
            "headlight_search_seconds", "Seconds of a search by itself."
        )
        self.waiting_seconds = histogram(
            "headlight_search_waiting_seconds", "Seconds until it began."
        )
        self.run_seconds = histogram(
            "headlight_run_seconds", "Seconds of a run of a page.", ["page"]
        )
        gauge = partial(Gauge, registry=self.registry)
        self.searches = gauge("headlight_searches", "Searches under way.", ["state"])
        self.open_sessions = gauge("headlight_sessions_open", "Tabs that are open.")
        self.jobs = gauge("headlight_jobs", "Jobs in the background.", ["state"])
        self.bytes = gauge("headlight_bytes", "Bytes that are held.", ["holder"])
        counter = partial(Counter, registry=self.registry)
        self.sessions = counter("headlight_sessions", "Tabs that were opened.")
        self.errors = counter("headlight_errors", "Runs and jobs that failed.")
        self.logged: dict[str, float] = {}  # when the log last had each reason
        self.refusals = counter("headlight_refusals", "Refusals by their reason.", ["reason"])


@server_wide
def metrics() -> Metrics:
    """Return the metrics of this server."""
    return Metrics()


def count_refusal(reason: str) -> None:
    """Count a refusal, and log it at most once a second; `reason` is never user input."""
    counts, now = metrics(), time.monotonic()
    counts.refusals.labels(reason).inc()
    if now - counts.logged.get(reason, -1.0) >= 1:
        counts.logged[reason] = now
        _LOG.warning("refused: %s", reason)
