"""Baked results on disk: PC2 for positions, a sidecar that says what it is, a state to resume from.

Files here come back from other machines and other people: every reader checks sizes against the file before it
allocates, follows no links, and loads plain numbers only.
"""
