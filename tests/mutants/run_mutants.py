#!/usr/bin/env python3
"""Shows that each mutant of the protocol is caught by the simulator.

Every NAME.patch breaks one rule. It is applied to a copy of the sources, what it touches is compiled again and
linked with the rest of the build, and the seed runner goes through fixed seeds until a checker objects. A mutant
that survives, or a patch that no longer applies, fails the run.

    run_mutants.py --source ROOT --work DIR --compiler C++ --main sim_seeds.o --libs LIB... [--only NAME...]

`ctest -V -L mutants` prints the command with all of its arguments. With --dry-run: only whether all of them apply.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

FLAGS = "-std=c++20 -O1 -march=x86-64-v3".split()
COPIED = ["actors", "master", "messages"]
RUN_TIMEOUT_S = 400


def rule_of(text):
    return re.search(r"^Rule: (.*)$", text, re.MULTILINE).group(1)


def sources_to_compile(tree, changed):
    """The changed files, and everything that may include a changed header."""
    if all(name.endswith(".cpp") for name in changed):
        return changed
    return sorted(str(p.relative_to(tree)) for part in COPIED for p in (tree / part).rglob("*.cpp")
                  if "codec" not in p.parts)


def applies(patch, source):
    return subprocess.run(["patch", "-p1", "--batch", "--fuzz=2", "--dry-run", "-i", str(patch)], cwd=source,
                          stdout=subprocess.DEVNULL, check=False).returncode == 0


def run_mutant(patch, arguments):
    text = patch.read_text()
    name = patch.stem
    work = arguments.work / name
    shutil.rmtree(work, ignore_errors=True)
    tree = work / "tree"
    for part in COPIED:
        shutil.copytree(arguments.source / part, tree / part)
    applied = subprocess.run(["patch", "-p1", "--batch", "--fuzz=2", "-i", str(patch)], cwd=tree, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if applied.returncode != 0:
        return name, text, "DOES NOT APPLY", "", applied.stdout
    changed = re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE)
    objects = []
    for source in sources_to_compile(tree, changed):
        target = work / (source.replace("/", "_") + ".o")
        command = [*arguments.launcher, *arguments.compiler, *FLAGS, f"-I{tree}", "-c", str(tree / source), "-o", str(target)]
        built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode != 0:
            return name, text, "DOES NOT COMPILE", "", built.stdout
        objects.append(str(target))
    runner = work / "sim_seeds"
    # Its own objects come first, so the linker takes nothing of the same name from the libraries.
    linked = subprocess.run([*arguments.compiler, arguments.main, *objects, *arguments.libs, "-pthread", "-o", str(runner)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if linked.returncode != 0:
        return name, text, "DOES NOT LINK", "", linked.stdout
    try:
        run = subprocess.run([str(runner), "--from=1", f"--count={arguments.seeds}", "--until-failure"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                             timeout=RUN_TIMEOUT_S)
        output = run.stdout
    except subprocess.TimeoutExpired:
        return name, text, "NO END", "", f"no end within {RUN_TIMEOUT_S} s"
    shutil.rmtree(work, ignore_errors=True)
    found = re.search(r"^FAILED seed (\d+):.*\n\s+(\w+): (.*)$", output, re.MULTILINE)
    if found:
        return name, text, found.group(2), found.group(1), found.group(3)
    found = re.search(r"FAILED assertion at seed (\d+)", output)
    if found:
        return name, text, "assertion", found.group(1), output.strip().splitlines()[-1]
    return name, text, "SURVIVED", "", output[-500:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--dry-run", action="store_true", help="only tell whether every patch applies")
    parser.add_argument("--work", type=pathlib.Path, default="mutants.work")
    parser.add_argument("--compiler", default=["c++"], type=str.split)
    parser.add_argument("--launcher", default=[], type=str.split, help="ccache, for instance")
    parser.add_argument("--main", default="", help="object file of the seed runner")
    parser.add_argument("--libs", nargs="+", default=[])
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    arguments.source = arguments.source.resolve()
    arguments.work = arguments.work.resolve()

    patches = sorted(p for p in pathlib.Path(__file__).resolve().parent.glob("*.patch")
                     if not arguments.only or p.stem in arguments.only)
    if patches and arguments.dry_run:
        stale = [p.stem for p in patches if not applies(p, arguments.source)]
        for name in stale:
            print(f"{name} does not apply to the sources as they are")
        print(f"{len(patches) - len(stale)} of {len(patches)} mutants apply")
        return 1 if stale else 0
    if not patches:
        print("no mutants found: nothing would be shown")
        return 1
    began = time.monotonic()
    escaped = 0
    print(f"{'mutant':32} {'caught by':10} {'seed':>5}  what it said", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, _, checker, seed, said in pool.map(lambda p: run_mutant(p, arguments), patches):
            caught = checker == "assertion" or checker.islower()
            escaped += 0 if caught else 1
            print(f"{name:32} {checker:10} {seed:>5}  {said if not caught else said[:110]}", flush=True)
    print(f"{len(patches) - escaped} of {len(patches)} mutants caught within {arguments.seeds} seeds, "
          f"{time.monotonic() - began:.0f} s")
    return 0 if escaped == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
