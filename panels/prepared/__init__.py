"""What panels draw, prepared: values, rows, texts."""
