#!/usr/bin/env python3
"""Whether memory is bounded by members, and not by time: the resident size of Master and P-slave over a long run.

    tests/bench/flat_memory.py pushes [--clocks 1000000]    a tiny model, one W-slave, as many pushes
    tests/bench/flat_memory.py members [--joins 10000]      W-slaves that join, train and are told to go, two at a time

Prints the resident size (VmRSS) in tenths of the run. Exit status 1 when the largest after the first tenth is more than
5 % above the largest within it. What the Master needs beyond that for a moment, to evaluate and to write its report when
all is trained, stands behind and is not judged. Needs build/release/convoy; everything is written to a temporary folder. A million
pushes take about half an hour.
"""

import argparse
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONVOY = ROOT / "build" / "release" / "convoy"
ALLOWED = 1.05

RUN = """
model.file = "tiny.toml"
data = {{ format = "idx", dir = "set" }}
train = {{ epochs = {epochs}, batch = {batch}, lr = 0.001 }}
eval.every_epochs = {epochs}
cluster = {{ listen = "127.0.0.1:0", backups = 0, failure_timeout_s = 5 }}
"""
# 49 x 10 weights and 10 biases: 2 KB in fp32.
MODEL = """
name = "two-kilobytes"
input = [1, 7, 7]
classes = 10
layer = [{ kind = "flatten" }, { kind = "linear", out_features = 10 }, { kind = "softmax_cross_entropy" }]
"""
IMAGES = 1000


def write_data(folder):
    folder.mkdir()
    draw = random.Random(1)
    for part, count in (("train", IMAGES), ("t10k", 100)):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, count, 7, 7) +
                                                           draw.randbytes(count * 49))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) +
                                                           bytes(draw.randrange(10) for _ in range(count)))


def resident_kb(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0  # it has ended


class Cluster:
    """A Master and a P-slave."""

    def __init__(self, folder, epochs, batch):
        self.folder = folder
        self.processes = []
        write_data(folder / "set")
        (folder / "tiny.toml").write_text(MODEL)
        (folder / "run.toml").write_text(RUN.format(epochs=epochs, batch=batch))
        self.log = folder / "master.log"
        self.read = 0
        self.master = self.start("master.log", "master", "run.toml")
        self.address = self.wait_for_address()
        self.server = self.node("server", "p-slave")
        self.sizes = {"Master": [], "P-slave": []}

    def start(self, name, *arguments):
        with open(self.folder / name, "wb") as log:
            process = subprocess.Popen([CONVOY, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log)
        self.processes.append(process)
        return process

    def wait_for(self, *texts):
        """Until the Master has said all of them, in this order, since the last call; what it said since then."""
        said = ""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(self.read)
            while self.master.poll() is None:
                said += log.read()
                at = 0
                for text in texts:
                    at = said.find(text, at) if at >= 0 else at
                if at >= 0 and said.find("\n", at) >= 0:
                    self.read = log.tell()
                    return said
                time.sleep(0.005)
        sys.exit(self.log.read_text())

    def wait_for_address(self):
        return self.wait_for("the Master listens on ").split("the Master listens on ")[1].split()[0].rstrip(",")

    def node(self, name, role):
        path = self.folder / f"{name}.toml"
        path.write_text(f'node = {{ name = "{name}", master = "{self.address}", roles = ["{role}"], '
                        f'devices = [{{ device = "reference" }}] }}\n')
        return self.start("node.log", "node", path.name)

    def look(self):
        for name, process in (("Master", self.master), ("P-slave", self.server)):
            size = resident_kb(process) if process.poll() is None else 0
            if size:
                self.sizes[name].append(size)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def judge(self):
        flat = True
        for name, sizes in self.sizes.items():
            tenths = [sizes[i * len(sizes) // 10:(i + 1) * len(sizes) // 10] for i in range(10)]
            if not all(tenths):
                sys.exit("the run was too short to say anything")
            most = [max(part) for part in tenths]
            holds = max(most[1:]) <= ALLOWED * most[0]
            flat = flat and holds
            print(f"{'holds  ' if holds else 'FAILS  '} {name}: {' '.join(str(kb) for kb in most)} KB in tenths, "
                  f"{100 * (max(most[1:]) / most[0] - 1):+.1f} % after the first", flush=True)
        return flat


def is_trained(cluster):
    return "trained: every sample" in cluster.log.read_text(errors="replace")


def pushes(options, folder):
    batch = 10
    cluster = Cluster(folder, epochs=options.clocks * batch / IMAGES, batch=batch)
    try:
        cluster.node("worker", "w-slave")
        began = time.monotonic()
        end_kb = 0
        while cluster.master.poll() is None:
            if is_trained(cluster):
                end_kb = max(end_kb, resident_kb(cluster.master))
                time.sleep(0.01)
            else:
                cluster.look()
                time.sleep(0.2)
        if cluster.master.returncode != 0:
            sys.exit(cluster.log.read_text())
        print(f"{options.clocks} pushes in {time.monotonic() - began:.0f} s; Master at the end: {end_kb} KB")
        return cluster.judge()
    finally:
        cluster.end()


def members(options, folder):
    cluster = Cluster(folder, epochs=10 ** 6, batch=10)
    try:
        # Holds the run while the others change. Names come again, as machines do.
        cluster.node("stays", "w-slave")
        began = time.monotonic()
        guests = []
        for number in range(options.joins):
            name = f"guest-{number % 50}"
            guests.append(cluster.node(name, "w-slave"))
            cluster.wait_for(f"{name} is ready", "member")
            cluster.look()
            if len(guests) > 1:
                leaver = guests.pop(0)
                leaver.send_signal(signal.SIGTERM)
                leaver.wait()
        print(f"{options.joins} members in {time.monotonic() - began:.0f} s")
        return cluster.judge()
    finally:
        cluster.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("pushes").add_argument("--clocks", type=int, default=1_000_000)
    commands.add_parser("members").add_argument("--joins", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flat = {"pushes": pushes, "members": members}[options.what](options, pathlib.Path(folder))
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main()
