"""How steps are compared and scored."""
