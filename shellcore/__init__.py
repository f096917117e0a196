"""Physics of thin sheets and shells."""
