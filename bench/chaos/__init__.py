"""The product while processes are killed and links break."""
