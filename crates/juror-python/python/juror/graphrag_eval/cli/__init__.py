"""The library's command."""
