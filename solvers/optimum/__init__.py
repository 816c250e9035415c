"""The pose that the criteria like best among those that the tasks allow."""
