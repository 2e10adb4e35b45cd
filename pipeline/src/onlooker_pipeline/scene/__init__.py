"""The people in front of a camera, judged from frame to frame."""
