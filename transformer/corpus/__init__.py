"""Measurements over many sentences, with their intervals, stored beside a checkpoint."""
