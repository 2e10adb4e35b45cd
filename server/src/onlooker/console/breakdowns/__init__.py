"""Who came, and how long: a section of a dashboard, with its filter."""
