"""A report as a PDF: what it says, how its pages are laid out, and the file."""
