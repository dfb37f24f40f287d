"""Lesson 13: your own cluster."""
