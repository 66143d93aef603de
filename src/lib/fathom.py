"""Run files of fathom, read without anything compiled: the SQL view `findings` by Python's own sqlite3.

    import fathom
    run = fathom.Run("card.fathom")
    print(run.gpu, run["cache.global.l2.latency"].value)
    for f in run.findings("cache.*.size"):
        print(f)

A finding's verdict says what it is worth: MEASURED is proven, LIKELY the best estimate, BOUND knows one end, ABSENT says that there is no such
thing; the others have no value. Values are in `unit`.
"""
import fnmatch
import pathlib
import sqlite3
from typing import NamedTuple, Optional, Tuple, Union

__all__ = ["Error", "Finding", "Run"]

COLUMNS = "key, verdict, value, lo, hi, unit, method, because, scope, probe"


class Error(Exception):
    """The file is missing, no run, or older than the view."""


class Finding(NamedTuple):
    key: str
    verdict: str
    value: Union[float, str, Tuple[float, ...], None]  # a number, a word, several numbers, or nothing
    lo: Optional[float]  # None: it makes no sense, or that end is open
    hi: Optional[float]
    unit: str
    method: str
    because: str
    scope: str
    probe: str

    @property
    def answered(self):
        """Something was found out: not INCONCLUSIVE, UNSUPPORTED or FAILED."""
        return self.verdict in ("MEASURED", "LIKELY", "BOUND", "ABSENT")


class Run:
    """One run file; everything is read at once, and the file is closed again."""

    def __init__(self, path):
        self.path = str(path)
        if not pathlib.Path(path).is_file():
            raise Error(f"{path} is not there, or is no file")
        base = sqlite3.connect(f"{pathlib.Path(path).absolute().as_uri()}?mode=ro", uri=True)
        try:
            kinds = dict(base.execute("SELECT key, kind FROM finding"))
            rows = base.execute(f"SELECT {COLUMNS} FROM findings ORDER BY key").fetchall()
            self.gpu, self.uuid, self.driver = base.execute("SELECT name, uuid, driver FROM device").fetchone()
            self.started, self.fathom = base.execute("SELECT started, fathom FROM run").fetchone()
        except (sqlite3.Error, TypeError) as why:
            raise Error(f"{path} cannot be read as a run ({why}); `fathom infer` brings an older one up to date") from None
        finally:
            base.close()
        self._findings = {row[0]: Finding(*row[:2], _value(kinds[row[0]], row[2]), *row[3:]) for row in rows}

    def __getitem__(self, key):
        return self._findings[key]

    def __contains__(self, key):
        return key in self._findings

    def __iter__(self):
        return iter(self._findings.values())

    def __len__(self):
        return len(self._findings)

    def findings(self, glob="*"):
        """Those whose keys fit: "cache.*.size"."""
        return [f for f in self if fnmatch.fnmatchcase(f.key, glob)]


def _value(kind, value):
    if kind == "array":
        return tuple(float(word) for word in value.replace(",", " ").split())
    return float(value) if kind == "number" and value is not None else value if kind == "text" else None
