#!/usr/bin/env python3
"""Holds the layers of the project: who may include and link whom, and habits that a compiler does not check.

    scripts/check_layers.py [--links FILE]

Without --links it reads the sources; with it, the link graph that CMake wrote (scripts/cmake/ConvoyLint.cmake).
Prints one line for each finding; exit status 1 when there is one.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 800

# Folder -> the folders that it may include from and link to, besides itself. The longest matching folder counts.
ARROWS = {
    "messages/base": [],
    "messages": ["messages/base"],
    "messages/codec": ["messages", "messages/base"],
    "kernels/graph": ["messages/base"],
    "kernels/reference": ["kernels/graph", "messages/base"],
    "kernels/cpu": ["kernels/graph", "kernels/reference", "messages/base"],
    "kernels/cuda": ["kernels/graph", "kernels/reference", "messages/base"],
    "kernels": ["kernels/graph", "kernels/reference", "kernels/cpu", "messages/base"],
    "config": ["kernels/graph", "messages/base"],
    "actors": ["messages", "messages/base"],
    "master": ["actors", "messages", "messages/base", "config", "kernels/graph"],
    # The engine's executor is pluggable; the real kernels are one choice.
    "master/sim": ["master", "actors", "messages", "messages/base", "config", "kernels"],
    "node": ["master", "actors", "messages", "messages/base", "config", "kernels"],
    "tests": ["node", "master", "actors", "messages", "config", "kernels", "scripts"],
}

# Third parties, and the folders that may know them. Tests may know all.
SYSTEM_HEADERS = [
    (r"caf/", ["node"], "CAF"),
    (r"zmq(_addon)?\.h", ["node"], "ZeroMQ"),
    (r"(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token)$|pthread\.h", ["node"],
     "threads"),
    (r"(oneapi/)?dnnl", ["kernels/cpu"], "oneDNN"),
    (r"(omp|cblas)\.h", ["kernels/cpu"], "OpenMP and BLAS"),
    (r"cuda|cudnn|cublas", ["kernels/cuda"], "CUDA"),
    (r"capnp/|kj/", ["messages/codec"], "Cap'n Proto"),
    (r"toml\+\+/", ["config"], "toml++"),
    (r"sqlite3\.h", ["node"], "SQLite"),
    (r"spdlog/", ["node"], "spdlog"),
    (r"CLI/", ["node"], "CLI11"),
]
LIBRARIES = [
    (r"\bcaf", ["node"], "CAF"),
    (r"zmq", ["node"], "ZeroMQ"),
    (r"Threads::", ["node"], "threads"),
    (r"dnnl", ["kernels/cpu"], "oneDNN"),
    (r"OpenMP|blas", ["kernels/cpu"], "OpenMP and BLAS"),
    (r"CUDA|cudnn", ["kernels/cuda"], "CUDA"),
    (r"capnproto|capnp|^kj$", ["messages/codec"], "Cap'n Proto"),
    (r"toml", ["config"], "toml++"),
    (r"sqlite", ["node"], "SQLite"),
]

# Roles are pure: step(now, event) -> effects. The engine of the simulator is not a role, but has no clock either.
PURE = ["actors", "master"]
IMPURE = [
    (r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b", "reads a clock"),
    (r"\b(random_device|srand|std::rand)\b", "draws randomness that no seed repeats"),
    (r"\b(getenv|setenv)\b", "reads the environment"),
    (r"\b(ifstream|ofstream|fstream|fopen|std::filesystem)\b", "touches files"),
    (r"\bstd::(cout|cerr|clog)\b|\bstd::f?printf\b", "prints"),
    (r"\bfor\s*\([^;)]*:\s*\w*unordered", "iterates over an unordered container"),
]


def project_files():
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:  # not a clone
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    skip = ("build/", "runs/", "data/", ".git/")
    return sorted(n for n in names if n and not n.startswith(skip) and (ROOT / n).is_file())


def folder_of(path, folders):
    """The longest of `folders` that holds `path`."""
    best = None
    for folder in folders:
        if (path == folder or path.startswith(folder + "/")) and (best is None or len(folder) > len(best)):
            best = folder
    return best


def allowed(origin, target):
    """Whether code in folder `origin` may use code in folder `target` (both keys of ARROWS)."""
    if origin == target:
        return True
    for folder in ARROWS[origin]:
        if target == folder:
            return True
        # "node" and "tests" name whole trees; a layer below names exactly what it may use.
        if origin in ("tests", "node") and target.startswith(folder + "/"):
            return True
        if folder == "kernels" and target.startswith("kernels/"):
            return True
    return False


def without_comments(text):
    # Strings may hold "//", but not an include or a call that matters here.
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def check_includes(name, text, findings):
    origin = folder_of(name, ARROWS)
    if origin is None:
        return
    code = without_comments(text)
    for number, line in enumerate(code.split("\n"), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not include:
            continue
        quote, header = include.groups()
        target = folder_of(header, ARROWS)
        if quote == '"' and target is None and (ROOT / pathlib.Path(name).parent / header).is_file():
            findings.append(f'{name}:{number}: include "{header}" does not start at the root')
        if target is not None and not allowed(origin, target):
            may = ", ".join(ARROWS[origin]) or "nothing"
            findings.append(f"{name}:{number}: {origin} includes {header}; allowed: {may}")
        if quote == "<" and origin != "tests":
            for pattern, homes, what in SYSTEM_HEADERS:
                if re.match(pattern, header) and folder_of(name, homes) is None:
                    findings.append(f"{name}:{number}: <{header}>: {what} may be known in {', '.join(homes)} alone")


def check_purity(name, text, findings):
    if folder_of(name, PURE) is None:
        return
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        for pattern, what in IMPURE:
            if re.search(pattern, line):
                findings.append(f"{name}:{number}: a role {what}: {line.strip()}")


def check_shape(name, text, findings):
    lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    if lines > MAX_LINES:
        findings.append(f"{name}:{MAX_LINES + 1}: {lines} lines; allowed: at most {MAX_LINES}")
    if name.endswith((".h", ".cuh")):
        if not text.startswith(("//", "/*")):
            findings.append(f"{name}:1: a header opens with what it is for, who owns what, which thread may call it")
        if "#pragma once" not in text:
            findings.append(f"{name}:1: no #pragma once")
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"[ \t]+$", line):
            findings.append(f"{name}:{number}: spaces at the end of the line")


def check_sources():
    findings = []
    source = (".h", ".cpp", ".cu", ".cuh")
    for name in project_files():
        if not name.endswith(source + (".py", ".sh", ".capnp", ".cmake", ".toml", ".md", "CMakeLists.txt")):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            findings.append(f"{name}:1: not UTF-8")
            continue
        if not name.endswith(".md"):
            check_shape(name, text, findings)
        if name.endswith(source):
            check_includes(name, text, findings)
            check_purity(name, text, findings)
    return findings


def check_links(file):
    """Lines of `file`: target|type|folder|library;library;..."""
    findings = []
    targets = {}
    for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
        target, kind, folder, libraries = line.split("|")
        targets[target] = (kind, folder, [l for l in libraries.split(";") if l])
    ours = [t for t in targets if t.startswith("convoy")]
    if not ours:
        return [f"{file}: names no target of the project"]
    for target in ours:
        kind, folder, libraries = targets[target]
        origin = folder_of(folder, ARROWS)
        if origin is None:
            findings.append(f"target {target}: its folder {folder} is no layer")
            continue
        if kind == "STATIC_LIBRARY" and origin not in ("node", "tests"):
            names = {"convoy_" + folder.replace("/", "_"), "convoy_" + folder.split("/")[-1]}
            if not any(name in targets and targets[name][1] == folder for name in names):
                findings.append(f"target {target}: no library of {folder} is named {' or '.join(sorted(names))}")
        for library in libraries:
            library = re.sub(r"^\$<LINK_ONLY:(.*)>$", r"\1", library)
            if library in targets:
                to = folder_of(targets[library][1], ARROWS)
                if to is not None and not allowed(origin, to):
                    may = ", ".join(ARROWS[origin]) or "nothing"
                    findings.append(f"target {target} ({origin}) links {library} ({to}); allowed: {may}")
            elif origin != "tests":
                for pattern, homes, what in LIBRARIES:
                    if re.search(pattern, library, re.I) and folder_of(folder, homes) is None:
                        findings.append(f"target {target} links {library}: {what} may be known in "
                                        f"{', '.join(homes)} alone")
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--links", metavar="FILE", help="check this link graph instead of the sources")
    arguments = parser.parse_args()
    findings = check_links(arguments.links) if arguments.links else check_sources()
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
