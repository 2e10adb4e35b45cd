"""Where the sounds of a recording come from. Pure functions without session or state."""
