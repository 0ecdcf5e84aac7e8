"""What speaks for a piece: its probability, each layer, each head, one piece against another."""
