"""What an enrolled agent reports to its console, and the configuration that it takes from there."""
