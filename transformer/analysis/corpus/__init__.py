"""What was measured over many sentences, with its intervals, and stored beside a checkpoint."""
