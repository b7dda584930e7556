#!/usr/bin/env python3
"""Runs clang-tidy over the project's own files and remembers which ones were clean.

    scripts/tidy.py [--build FOLDER] [--jobs N] [FILE...]

The build folder (build/release) says how files are compiled. A file is looked at again when its text, the text of a
project header that it includes, its compile command, .clang-tidy or clang-tidy itself changed; what was clean is kept
in build/tidy-cache. Exit status 1 when there are findings, which are printed.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "tidy-cache"
FOLDERS = ("actors", "config", "kernels", "master", "messages", "node", "tests")
# GCC's names for warnings that clang does not have are no findings.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--quiet"]


@functools.lru_cache(maxsize=None)
def text_of(path):
    return path.read_bytes()


@functools.lru_cache(maxsize=None)
def includes_of(path):
    found = []
    for match in re.finditer(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text_of(path), re.M):
        header = match.group(1).decode()
        for base in (ROOT, path.parent):
            if (base / header).is_file():
                found.append((base / header).resolve())
                break
    return found


def closure_of(path):
    """The file and every project header that it includes, however deep."""
    seen, open_ = {path}, [path]
    while open_:
        for header in includes_of(open_.pop()):
            if header not in seen:
                seen.add(header)
                open_.append(header)
    return sorted(seen)


def key_of(entry, path, version):
    digest = hashlib.sha256()
    command = entry.get("command") or shlex.join(entry["arguments"])
    # Where the clone lies changes nothing.
    for part in (version, text_of(ROOT / ".clang-tidy").decode(), command.replace(str(ROOT), "")):
        digest.update(part.encode() + b"\0")
    for file in closure_of(path):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + text_of(file) + b"\0")
    return digest.hexdigest()


def look_at(tool, build, path, key):
    done = subprocess.run([tool, "-p", str(build), *EXTRA, str(path)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        (CACHE / key).touch()
        return path, ""
    return path, done.stdout + "\n".join(
        line for line in done.stderr.split("\n") if not re.match(r"\d+ warnings? |Suppressed|Use -", line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these")
    arguments = parser.parse_args()

    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if tool is None:
        print("clang-tidy 14 is missing: scripts/setup.sh check", file=sys.stderr)
        return 1
    build = pathlib.Path(arguments.build).resolve()
    commands = build / "compile_commands.json"
    if not commands.is_file():
        print(f"{commands} is missing: scripts/build.sh release", file=sys.stderr)
        return 1
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    CACHE.mkdir(parents=True, exist_ok=True)

    only = {pathlib.Path(f).resolve() for f in arguments.files}
    jobs = {}
    for entry in json.loads(commands.read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS
        if not inside or not path.is_file() or (only and path not in only) or path in jobs:
            continue
        key = key_of(entry, path, version)
        jobs[path] = None if (CACHE / key).exists() else key
    if not jobs:
        print("no file to look at", file=sys.stderr)
        return 1

    todo = [(path, key) for path, key in jobs.items() if key is not None]
    bad = 0
    shown = set()  # one finding in a header is met in every file that includes it
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path, output in pool.map(lambda job: look_at(tool, build, *job), todo):
            if not output:
                continue
            bad += 1
            for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning):)", output):
                if finding.strip() and finding not in shown:
                    shown.add(finding)
                    print(finding.rstrip())
    print(f"{len(jobs)} files, {len(jobs) - len(todo)} known to be clean, {len(todo) - bad} found clean, "
          f"{bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
