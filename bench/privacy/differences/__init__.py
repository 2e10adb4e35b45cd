"""An adversary who asks the data endpoint for everything, and solves its answers for sums about few people."""
