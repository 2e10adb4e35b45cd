"""How right the services are, on labelled pictures, scenes and sounds."""
