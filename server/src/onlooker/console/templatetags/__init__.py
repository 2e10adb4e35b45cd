"""What templates may ask beside what their view gives them."""
