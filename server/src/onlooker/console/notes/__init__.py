"""Notes on days: their pages, and how dashboards, tables and files show them."""
