"""What a task says while it runs: sentences, JSON, or what OpenJD's engines read."""

import json
import sys
import time
from typing import Any

KINDS = ("plain", "json", "openjd")


class Teller:
    """Writes one line an event, at once. Errors are a line on stderr in every kind."""

    def __init__(self, kind: str = "plain", **always: Any) -> None:
        """`always`: what every JSON line holds besides."""
        self.kind, self.always = kind, {key: value for key, value in always.items() if value not in (None, "")}
        self._began = time.monotonic()

    def frame(self, names: list[str], frame: int, first: int, last: int, stage: str) -> None:
        """How far it is. Seconds left are as many as the frames so far took."""
        spent = time.monotonic() - self._began
        share = (frame - first) / max(last - first, 1)
        left = round(spent / share - spent, 1) if share > 0 else None
        if self.kind == "json":
            self._json("frame", objects=names, frame=frame, first=first, last=last, share=share, left=left, stage=stage)
        elif self.kind == "openjd":
            self._line(f"openjd_progress: {100.0 * min(max(share, 0.0), 1.0):.1f}")
            self._line(f"openjd_status: frame {frame} of {last}: {stage}")
        else:
            rest = f", {left:.0f} s left" if left is not None else ""
            self._line(f"Thin Shell: {', '.join(names)}: frame {frame} of {last}: {stage}{rest}")

    def say(self, event: str, text: str, **facts: Any) -> None:
        """Something that is done or known: a sentence, or facts that are worth a field each."""
        if self.kind == "json":
            self._json(event, text=text, **facts)
        else:
            self._line(f"Thin Shell: {text}")

    def warn(self, text: str) -> None:
        if self.kind == "json":
            self._json("warning", text=text)
        print(f"Thin Shell: warning: {text}", file=sys.stderr, flush=True)

    def fail(self, text: str, code: int) -> None:
        """The one line that says what to do."""
        line = " ".join(text.split())
        if self.kind == "json":
            self._json("error", text=line, code=code)
        if self.kind == "openjd":
            self._line(f"openjd_fail: {line}")
        print(f"Thin Shell: error: {line}", file=sys.stderr, flush=True)

    def _json(self, event: str, **facts: Any) -> None:
        self._line(json.dumps({"event": event, **self.always, **facts}))

    def _line(self, text: str) -> None:
        print(text, flush=True)
