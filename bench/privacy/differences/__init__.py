"""An adversary who asks the data endpoint for everything, and solves for people what it answers."""
