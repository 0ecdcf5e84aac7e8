"""What a run leaves behind and goes on from: state, saving, journal, progress, probes."""
