"""An adversary who asks the data endpoint all that it answers, and solves its answers for sums about few people."""
