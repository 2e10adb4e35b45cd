"""In which language a person reads, and how it writes numbers, dates and lists."""
