"""The Volcano batch scheduler as a laboratory: it decides as Volcano v1.14.0 does, and shows why."""

__version__ = "0.1.0"
