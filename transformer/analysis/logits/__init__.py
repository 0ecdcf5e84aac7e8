"""Attribution of a written piece: its probability, each layer, each head, a contrast."""
