"""Runs here watch one short sentence: a random model writes on and on, in most of a run's time."""

from training import validation

validation.PROBES = (("The dog.", "Der Hund."),)
