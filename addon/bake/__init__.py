"""Baking: a job is a generator that the modal operator and the command line drive.

`job` runs one group of shells that are simulated together; `groups` decides which do; `owners` knows who drives an
object, a bake, Live or Real Time; `fingerprint` and `inputs` say what a result was made from, `digests` hash it;
`status` tells what there is on disk.
"""
