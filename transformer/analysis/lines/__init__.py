"""Many sentences: measured once, then compared, searched, and measured without some heads."""
