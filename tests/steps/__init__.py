"""Every step of plans that can fail, made to fail."""
