"""What templates of other parts show of members."""
