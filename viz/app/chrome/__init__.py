"""What stands around the pictures: style, first page, fields, charts, mounts."""
