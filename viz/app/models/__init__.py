"""The models of the server: their folders, those in memory, the menu."""
