"""The session, its extension points and their configuration."""
