#!/usr/bin/env python3
"""Holds what may be in the tree: nothing that works on one machine alone, nothing that does not belong in a clone.

    scripts/check_tree.py

No tracked file is a symbolic link, none is named by .gitignore, and no text names a folder of one machine or the host
of a package registry (who installs takes what the machine is set up with). Prints one line for each finding; exit
status 1 when there is one. Where there is no git it says so and passes. How long a file may be, check_layers.py holds.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

TEXT = [
    # Not part of a longer path or of an address: there the folder may be anything.
    (re.compile(r"(?<![\w.~$})\]/-])/(?:work|root|home)(?![\w.-])"), "a folder of one machine"),
    # A template for mkdtemp and mktemp names no folder.
    (re.compile(r"(?<![\w.~$})\]/-])/tmp/(?![\w.-]*XXXXXX)[\w.{$%*-]"),
     "a folder of one machine; a test makes its own (tests/support/folder.h, mktemp)"),
    (re.compile(r"\.\./shared(?![\w-])"), "a folder beside the clone"),
    (re.compile(r"\b(?:registry\.(?:npmjs|yarnpkg)|registry-\d\.docker|pypi|files\.pythonhosted|crates|index\.crates|"
                r"proxy\.golang|rubygems|(?:deb|security|snapshot|ftp)\.debian|conda\.anaconda|repo\.maven|ghcr)"
                r"\.(?:org|io|com)\b"), "the host of a package registry"),
]


def git(root, *arguments):
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    except OSError:  # not installed
        return None
    return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else None


def is_clone(root):
    top = git(root, "rev-parse", "--show-toplevel")
    return top is not None and os.path.realpath(top.rstrip("\n")) == os.path.realpath(root)


def names(listed):
    return [name for name in listed.split("\0") if name]


def check_text(name, text):
    findings = []
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what in TEXT:
            found = pattern.search(line)
            if found:
                findings.append(f"{name}:{number}: names {what}: {line.strip()[:100]}")
    return findings


def check_tree(root):
    """REQUIRES: is_clone(root)."""
    findings = []
    for entry in names(git(root, "ls-files", "-z", "--stage")):
        kind, name = entry.split("\t", 1)[0].split(" ")[0], entry.split("\t", 1)[1]
        path = pathlib.Path(root) / name
        if kind == "120000":
            findings.append(f"{name}: a symbolic link; what it leads to is elsewhere on another machine")
            findings += check_text(name, os.readlink(path) if path.is_symlink() else "")
        elif kind != "160000" and path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                findings += check_text(name, data.decode(errors="replace"))
    # By the files of the project alone: what its user has git ignore is his own affair.
    for name in names(git(root, "ls-files", "-z", "--cached", "--ignored", "--exclude-per-directory=.gitignore")):
        findings.append(f"{name}: tracked, though .gitignore names it")
    return findings


def main():
    if not is_clone(ROOT):
        print("not a clone (or no git here): what is tracked is not checked")
        return 0
    findings = check_tree(ROOT)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
