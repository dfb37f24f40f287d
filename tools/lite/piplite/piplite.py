"""The kernel notes here which package indexes it may ask; nobody reads it."""
