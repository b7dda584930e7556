#!/usr/bin/env python3
"""The figures of docs/evidence.md and docs/performance.md that take whole runs, each beside what it is compared with.

    tests/bench/measure.py torch [--rounds 3]    wall_s of config/lenet-mnist.toml beside the same work in PyTorch
    tests/bench/measure.py modes [--seeds 3]     final accuracy of every mode beside one W-slave with bsp, each run verified
    tests/bench/measure.py cost [--rounds 5]     one W-slave and one P-slave beside `convoy bench step`
    tests/bench/measure.py link [--rounds 3]     `convoy bench link`, and gloo's all-reduce between two processes

Runs alternate with what they are compared with, so that a noisy machine spoils both alike; figures are medians and, in
`modes`, means. Exit status 1 when a bound that docs/evidence.md states does not hold. Needs build/release/convoy and data/mnist
(scripts/run.sh makes both); `torch` and `link` also Debian's python3-torch. Runs are written to a temporary folder.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONVOY = ROOT / "build" / "release" / "convoy"
RUN_FILE = ROOT / "config" / "lenet-mnist.toml"
# Debian's Python sees Debian's PyTorch; one BLAS thread beside OpenMP's is what serves it best.
PYTHON = ("/usr/bin/python3", pathlib.Path(__file__).resolve().parent / "torch_peer.py")
ENVIRONMENT = dict(os.environ, MNIST_DIR=str(ROOT / "data" / "mnist"), OPENBLAS_NUM_THREADS="1")

failed = []


def check(holds, what):
    print(("holds   " if holds else "FAILS   ") + what, flush=True)
    if not holds:
        failed.append(what)


def command(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, cwd=ROOT, **more).stdout


def train(runs, name, *settings, arguments=()):
    """One run to its end, its summary. Its samples are verified."""
    sets = [part for s in (f'run.dir="{runs / name}"', *settings) for part in ("--set", s)]
    command(CONVOY, "train", RUN_FILE, *arguments, *sets)
    proof = json.loads(command(CONVOY, "verify", runs / name, "--json"))
    summary = json.loads((runs / name / "summary.json").read_text())
    lost = summary["samples_lost"] + summary["samples_duplicated"]
    if not proof["ok"] or lost != 0:
        check(False, f"{name}: no sample lost or counted twice")
    return summary


def torch(options, runs):
    walls, peers, accuracies = [], [], []
    for seed in range(1, options.rounds + 1):
        summary = train(runs, f"torch-{seed}", f"run.seed={seed}")
        walls.append(summary["wall_s"])
        accuracies.append(summary["test_accuracy"])
        words = command(*PYTHON, "mnist", 2, "--seed", seed, env=ENVIRONMENT)
        peers.append(float(words.split(" all ")[1].split(",")[0]))
        print(f"seed {seed}: convoy {walls[-1]:.1f} s, {accuracies[-1]:.4f}; {words.strip()}", flush=True)
    ours, theirs, mean = statistics.median(walls), statistics.median(peers), statistics.mean(accuracies)
    check(mean >= 0.990 and min(accuracies) >= 0.987, f"accuracy: mean {mean:.4f} >= 0.990, least {min(accuracies):.4f} >= 0.987")
    check(ours <= theirs, f"medians: convoy {ours:.1f} s <= PyTorch {theirs:.1f} s (ratio {ours / theirs:.2f})")


def modes(options, runs):
    def mean(label, bound, *settings, arguments=()):
        all_ = [train(runs, f"{label}-{seed}", f"run.seed={seed}", *settings, arguments=arguments)
                for seed in range(1, options.seeds + 1)]
        accuracies = [s["test_accuracy"] for s in all_]
        # The histogram's index is granted clock - c_min.
        stale = max(len(s["staleness_histogram"]) for s in all_) - 1
        print(f"{label}: " + " ".join(f"{a:.4f}" for a in accuracies) + f", mean {statistics.mean(accuracies):.4f}, "
              f"staleness at most {stale}, wall_s " + " ".join(f"{s['wall_s']:.1f}" for s in all_), flush=True)
        if bound is not None:
            check(stale <= bound, f"{label}: no grant beyond the bound of {bound}")
        return statistics.mean(accuracies)

    one = mean("one", 0, 'sync.mode="bsp"', arguments=("--workers", 1))
    for mode, bound in (("bsp", 0), ("dsp", 4), ("dynamic", 4), ("asp", None)):
        got = mean(mode, bound, f'sync.mode="{mode}"')
        check(abs(got - one) <= 0.003, f"{mode}: mean {got:.4f} within 0.3 points of one W-slave with bsp ({one:.4f})")


def cost(options, runs):
    ratios = []
    for i in range(options.rounds):
        step = json.loads(command(CONVOY, "bench", "step", "--batch", 64, "--threads", 1, "--json"))["samples_per_s"]
        run = train(runs, f"cost-{i}", "train.epochs=1", "train.batch=64", "eval.every_epochs=1",
                    arguments=("--workers", 1, "--servers", 1))["samples_per_s"]
        ratios.append(run / step)
        print(f"bench step {step:.0f} samples/s, distributed {run:.0f}: {ratios[-1]:.3f}", flush=True)
    check(statistics.median(ratios) >= 0.90, f"median ratio {statistics.median(ratios):.3f} >= 0.90")


def link(options, _runs):
    ratios = []
    for _ in range(options.rounds):
        sizes = {f["bytes"]: f for f in json.loads(command(CONVOY, "bench", "link", "--json"))}
        for size in (4 << 20, 40 << 20):
            f = sizes[size]
            print(f"{size >> 20} MB: push, sum and answer {f['push_ms']:.2f} ms, pull {f['pull_ms']:.2f} ms, together "
                  f"{f['push_ms'] + f['pull_ms']:.2f} ms; one way {f['one_way_gbps'] / 8:.2f} GB/s, "
                  f"raw ZeroMQ {f['raw_zmq_gbps'] / 8:.2f} GB/s", flush=True)
        ratios.append(sizes[4 << 20]["one_way_ratio"])
        ranks = [subprocess.Popen([str(a) for a in (*PYTHON, "allreduce")], stdout=subprocess.PIPE, text=True,
                                  env=dict(ENVIRONMENT, RANK=str(r), WORLD_SIZE="2", MASTER_PORT="29400"))
                 for r in range(2)]
        print(ranks[0].communicate()[0].strip(), flush=True)
        ranks[1].communicate()
    check(statistics.median(ratios) >= 0.85, f"4 MB one way beside raw ZeroMQ: median ratio {statistics.median(ratios):.2f} >= 0.85")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(required=True)
    for function, flag, default in ((torch, "--rounds", 3), (modes, "--seeds", 3), (cost, "--rounds", 5), (link, "--rounds", 3)):
        sub = what.add_parser(function.__name__)
        sub.add_argument(flag, type=int, default=default)
        sub.set_defaults(go=function)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.go(options, pathlib.Path(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
