"""From files of text to encoded pairs, in memory or mapped."""
