"""What every command shares: its frame, types of arguments, standard input."""
