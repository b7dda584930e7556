#!/usr/bin/env python3
"""Whole runs in which things go wrong all the time, each held against what Convoy promises.

    tests/bench/chaos.py chaos [--runs 20] [--seed 1]      kill -9, SIGSTOP and partitions over W-slaves, P-slaves and Master
    tests/bench/chaos.py goodput [--runs 5] [--kind kill]  8 W-slaves, one kill, leave or freeze every 30 s, back after 2 s

A run of `chaos` is config/lenet-mnist.toml with backups, four W-slaves and three P-slaves, stretched by slowdown. A schedule of
[[fault]] is drawn from the seed, which is printed: the same seed brings the same schedule. P-slaves suffer one after the
other, with time for a refill between them, so that an owner and its backup are not lost together. Each run has to end trained,
with accuracy >= 0.987, at least ten faults, no sample lost or counted twice (`convoy verify`), and no process left.

`goodput` is samples committed / (length x samples/s of that run's windows with all members and no view change).

Exit status 1 when something does not hold. Needs build/release/convoy and data/mnist, or --data-dir. Runs are written to a
temporary folder, which is kept when something fails.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONVOY = ROOT / "build" / "release" / "convoy"
RUN_FILE = ROOT / "config" / "lenet-mnist.toml"
TIMEOUT_S = 1.0
# A P-slave is back in its place well within this: noticed, started again, welcomed, filled.
REFILL_S = 8.0
FIRST_S = 6.0


def schedule(rng, w_slaves, p_slaves, length_s):
    """Faults from FIRST_S on. What may cost a copy of the parameters keeps a refill's distance from the next of its kind."""
    faults, copies_at, t = [], 0.0, FIRST_S
    while t < length_s:
        whom = rng.choice(["w-slave"] * 3 + ["p-slave"] * 3 + ["master"] * 2)
        kind = rng.choice(["kill", "freeze", "partition"])
        if whom == "p-slave" and t < copies_at:
            whom = "w-slave"
        if whom == "p-slave":
            copies_at = t + REFILL_S
        index = rng.randrange({"w-slave": w_slaves, "p-slave": p_slaves, "master": 1}[whom])
        target = whom if whom == "master" else f"{whom}[{index}]"
        fault = {"kind": kind, "target": target, "at": f"{t:.2f}s"}
        if kind != "kill":
            fault["for_s"] = round(rng.uniform(0.3, 3.0), 2)
        if kind == "partition" and whom == "w-slave" and rng.random() < 0.5:
            # One way, and either way round.
            other = rng.choice(["master", f"p-slave[{rng.randrange(p_slaves)}]"])
            fault["target"] = "->".join(rng.choice([(target, other), (other, target)]))
        faults.append(fault)
        t += rng.uniform(1.5, 4.0)
    return faults


def toml(faults):
    tables = []
    for fault in faults:
        lines = [f"{key} = {json.dumps(value)}" for key, value in fault.items()]
        tables.append("[[fault]]\n" + "\n".join(lines) + "\n")
    return "\n".join(tables)


def left_over(marker):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker in (entry / "cmdline").read_text() and "convoy" in (entry / "comm").read_text():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def run_once(folder, name, run_text, limit_s):
    """One run to its end; its summary and what does not hold."""
    file, wrong = folder / f"{name}.toml", []
    file.write_text(run_text)
    directory = folder / name
    with open(folder / f"{name}.err", "w", encoding="utf-8") as err:
        train = subprocess.Popen([CONVOY, "train", file, "--set", f'run.dir="{directory}"'], stdout=subprocess.DEVNULL,
                                 stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT)
        try:
            status = train.wait(limit_s)
        except subprocess.TimeoutExpired:
            train.terminate()
            train.wait()
            return None, [f"still running after {limit_s:.0f} s"]
    if status != 0:
        return None, [f"ended with status {status}"]
    if left := left_over(str(directory)):
        wrong.append(f"processes are left: {left}")
    summary = json.loads((directory / "summary.json").read_text())
    proof = subprocess.run([CONVOY, "verify", directory, "--json"], check=False, capture_output=True, text=True, cwd=ROOT)
    if proof.returncode != 0 or not json.loads(proof.stdout)["ok"]:
        wrong.append("convoy verify: " + (proof.stdout or proof.stderr)[-500:])
    for count in ("samples_lost", "samples_duplicated", "violations"):
        if summary[count] != 0:
            wrong.append(f"{count} {summary[count]}")
    return summary, wrong


def base(options, seed, w_slaves, p_slaves, slowdown):
    text = RUN_FILE.read_text().splitlines()
    text = [line for line in text if not line.startswith(("local.", "cluster."))]
    if options.data_dir:
        text.append(f'data.dir = "{options.data_dir}"')
    text += [f"run.seed = {seed}", f"cluster = {{ backups = 1, failure_timeout_s = {TIMEOUT_S} }}",
             "local.w_slave = [" + ", ".join([f"{{ slowdown = {slowdown} }}"] * w_slaves) + "]",
             "local.p_slave = [" + ", ".join(["{}"] * p_slaves) + "]"]
    return "\n".join(text) + "\n\n"


def chaos(options, folder):
    failed = 0
    for seed in range(options.seed, options.seed + options.runs):
        faults = schedule(random.Random(seed), 4, 3, options.length_s)
        text = base(options, seed, 4, 3, options.slowdown) + toml(faults)
        summary, wrong = run_once(folder, f"chaos-{seed}", text, options.limit_s)
        line = f"seed {seed}:"
        if summary:
            recoveries = summary["recoveries"]
            if summary["test_accuracy"] < 0.987:
                wrong.append(f"accuracy {summary['test_accuracy']:.4f} < 0.987")
            if summary["faults_injected"] < 10:
                wrong.append(f"only {summary['faults_injected']} faults")
            line += (f" accuracy {summary['test_accuracy']:.4f}, {summary['faults_injected']} faults, {len(recoveries)} lost, "
                     f"longest pause {max([r['stall_s'] for r in recoveries], default=0):.2f} s, "
                     f"{summary['view_changes']} view changes, {summary['wall_s']:.0f} s")
        print(line + (" holds" if not wrong else " FAILS: " + "; ".join(wrong)), flush=True)
        failed += bool(wrong)
    return failed


def goodput(options, folder):
    shares, failed = [], 0
    bound = 0.93 if options.kind == "freeze" else 0.97
    for seed in range(options.seed, options.seed + options.runs):
        text = base(options, seed, 8, 2, options.slowdown)
        text = text.replace("epochs = 1.75", f"epochs = {options.epochs}").replace("every_epochs = 0.5", "every_epochs = 0")
        text += f'[[fault]]\nkind = "{options.kind}"\ntarget = "any-w-slave"\nevery = "30s"\nfor_s = 2\n'
        summary, wrong = run_once(folder, f"goodput-{seed}", text, options.limit_s)
        if summary is None or wrong:
            print(f"seed {seed}: FAILS: " + "; ".join(wrong), flush=True)
            failed += 1
            continue
        shares.append(summary["goodput"])
        print(f"seed {seed}: goodput {shares[-1]:.4f} of {summary['full_samples_per_s']:.0f} samples/s, "
              f"{summary['faults_injected']} faults in {summary['wall_s']:.0f} s", flush=True)
    median = statistics.median(shares) if shares else 0
    print(f"{'holds' if median >= bound else 'FAILS'}   {options.kind}: median goodput {median:.4f} >= {bound}")
    return failed + (median < bound)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["chaos", "goodput"])
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["kill", "leave", "freeze"], default="kill")
    parser.add_argument("--slowdown", type=float)
    parser.add_argument("--length-s", type=float, default=45, help="of the schedule")
    parser.add_argument("--epochs", type=float, default=8, help="of a goodput run")
    parser.add_argument("--limit-s", type=float, default=600)
    parser.add_argument("--data-dir", type=pathlib.Path)
    options = parser.parse_args()
    run, runs, slowdown = {"chaos": (chaos, 20, 6.0), "goodput": (goodput, 5, 8.0)}[options.what]
    options.runs = options.runs or runs
    options.slowdown = options.slowdown or slowdown
    if options.data_dir:
        options.data_dir = options.data_dir.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="convoy-chaos-"))
    failed = run(options, folder)
    if failed:
        print(f"{failed} do not hold; the runs are in {folder}")
        return 1
    subprocess.run(["rm", "-r", folder], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
