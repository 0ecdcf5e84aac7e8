"""Files that a run leaves and resumes from: state, saving, journal, progress, probes."""
