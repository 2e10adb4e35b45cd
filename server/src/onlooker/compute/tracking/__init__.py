"""Following people from frame to frame: pure, by timestamps, without knowing who anybody is."""
