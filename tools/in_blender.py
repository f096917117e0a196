"""Run pytest inside Blender as a module, and leave with pytest's own exit code.

Some versions crash while Python shuts down, after every test has passed; the process ends before that.
"""

from __future__ import annotations

import os
import sys

try:
    import bpy
except ImportError as error:
    print(f"Blender as a module does not load: {error}", file=sys.stderr)
    sys.exit(1)

import pytest

print(f"Blender {bpy.app.version_string}", flush=True)
code = int(pytest.main(sys.argv[1:]))
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
