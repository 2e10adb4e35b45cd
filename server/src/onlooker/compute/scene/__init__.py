"""What is judged of the people in front of a camera, from frame to frame."""
