"""Results that the server keeps, their bounds, and work that can be cancelled."""
