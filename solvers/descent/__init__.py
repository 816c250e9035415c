"""What poses and frames share: compiled tasks, residuals, and steps that lessen them."""
