"""Surroundings of the pictures: style, first page, fields, charts, mounts."""
