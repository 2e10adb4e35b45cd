"""What one picture shows: faces, eyes, heads, ages, expressions, bodies. Pure functions without session or state."""
