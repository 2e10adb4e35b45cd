"""Edge mode: the device computes, and only visits travel."""
