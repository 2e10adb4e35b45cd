"""What can be seen in one picture: faces, eyes, heads, ages, moods, bodies. Pure functions, no bus, no session."""
