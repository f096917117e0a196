"""How a scene moves on: schemes of time stepping, and how long their steps are."""
