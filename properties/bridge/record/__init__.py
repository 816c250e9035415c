"""What each bone says about its joint and link, stored and as it stands."""
