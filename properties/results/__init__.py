"""What results say to people, and readouts of the present pose."""
