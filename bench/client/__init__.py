"""What the commands about the device client share."""
