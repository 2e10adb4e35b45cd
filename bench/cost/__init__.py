"""What the product costs: CPU, memory, time."""
