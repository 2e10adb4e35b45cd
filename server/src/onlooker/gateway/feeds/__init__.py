"""The streaming variant: one long input of frames, one long output of results."""
