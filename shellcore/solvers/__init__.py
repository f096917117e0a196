"""Minimising a potential: what the steps of a scheme ask for."""
