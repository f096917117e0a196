"""Many bakes of one file on many machines: variants, wedges, and bundles for the engines that studios run.

A task is one Blender that bakes, renders or collects one variant and ends; it never writes the .blend file. Its bake is
known by (file, shell, variant) and lies in a folder of the variant's own. `assignments` changes settings by command,
`variant` is whose a bake is, `task` bakes it, `wedges` counts variants out, `workers` runs them here, `results` makes
the table and the pictures of what came out, `bundle` writes what OpenJD and Flamenco run.
"""

FORMAT = 1
"""What a bundle asks of the extension on a worker; counted up where an older one could not run the tasks."""
