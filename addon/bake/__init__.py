"""Baking: a job is a generator that the modal operator, the command line and Live mode all drive.

`job` runs one group of shells that are simulated together; `groups` decides which do; `fingerprint` says what a result
was made from; `status` what there is on disk.
"""
