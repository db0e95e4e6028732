"""What screens are made of: rows (values), strips (drawing), widgets (keys and mouse)."""
