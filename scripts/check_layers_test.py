#!/usr/bin/env python3
"""What check_layers.py must find, and what it must let pass: a check that cannot fail is none."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402


def includes(name, text):
    findings = []
    check_layers.check_includes(name, text, findings)
    return findings


def purity(name, text):
    findings = []
    check_layers.check_purity(name, text, findings)
    return findings


def links(text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return check_layers.check_links(file.name)


class Includes(unittest.TestCase):
    def test_arrows_point_one_way(self):
        for name, header in [("messages/base/ids.h", "messages/frame.h"), ("messages/frame.h", "actors/worker.h"),
                             ("messages/messages.h", "messages/codec/codec.h"), ("actors/worker.h", "config/x.h"),
                             ("actors/worker.h", "kernels/graph/graph.h"), ("config/x.h", "messages/messages.h"),
                             ("kernels/graph/graph.h", "kernels/reference/layers.h"),
                             ("kernels/cpu/a.cpp", "kernels/cuda/b.h"), ("master/master.h", "node/x.h"),
                             ("master/master.h", "kernels/cpu/cpu_backend.h"), ("node/x.cpp", "tests/unit/x.h")]:
            self.assertEqual(len(includes(name, f'#include "{header}"\n')), 1, (name, header))

    def test_what_is_allowed_passes(self):
        for name, header in [("messages/frame.h", "messages/base/ids.h"), ("node/x.cpp", "kernels/cpu/cpu_backend.h"),
                             ("master/master.h", "actors/role.h"), ("config/x.h", "kernels/graph/graph.h"),
                             ("tests/net/x.cpp", "node/data/dataset.h"), ("tests/unit/x.cpp", "tests/unit/y.h"),
                             ("node/data/loader.h", "node/data/dataset.h"), ("master/sim/e.h", "kernels/graph/graph.h")]:
            self.assertEqual(includes(name, f'#include "{header}"\n'), [], (name, header))

    def test_third_parties_stay_at_home(self):
        for name, header in [("actors/worker.h", "thread"), ("kernels/cpu/x.cpp", "mutex"), ("config/x.cpp", "zmq.h"),
                             ("master/x.cpp", "caf/all.hpp"), ("kernels/reference/x.cpp", "oneapi/dnnl/dnnl.hpp"),
                             ("messages/messages.cpp", "capnp/message.h"), ("node/x.cpp", "toml++/toml.h"),
                             ("node/x.cpp", "dnnl.hpp"), ("node/x.cpp", "cuda_runtime.h")]:
            self.assertEqual(len(includes(name, f"#include <{header}>\n")), 1, (name, header))
        for name, header in [("node/x.cpp", "thread"), ("tests/net/x.cpp", "zmq.h"), ("config/x.cpp", "toml++/toml.h"),
                             ("messages/codec/x.cpp", "capnp/message.h"), ("kernels/cpu/x.cpp", "omp.h")]:
            self.assertEqual(includes(name, f"#include <{header}>\n"), [], (name, header))

    def test_a_comment_includes_nothing(self):
        self.assertEqual(includes("actors/x.h", '// #include "node/x.h"\n/*\n#include <thread>\n*/\n'), [])


class Purity(unittest.TestCase):
    def test_roles_read_no_clock_and_print_nothing(self):
        for line in ["auto t = std::chrono::steady_clock::now();", "std::random_device d;", 'getenv("X")',
                     "std::ifstream f;", "std::cerr << x;", 'std::printf("x");']:
            self.assertEqual(len(purity("actors/x.cpp", line)), 1, line)
            self.assertEqual(purity("node/x.cpp", line), [], line)
        self.assertEqual(purity("master/x.cpp", "// a steady_clock in words\nstd::map<int, int> m;\n"), [])


class Shape(unittest.TestCase):
    def shape(self, name, text):
        findings = []
        check_layers.check_shape(name, text, findings)
        return findings

    def test_headers_open_with_a_comment_and_files_stay_short(self):
        good = "// For what.\n#pragma once\n"
        self.assertEqual(self.shape("a.h", good), [])
        self.assertEqual(len(self.shape("a.h", "#pragma once\n")), 1)
        self.assertEqual(len(self.shape("a.h", "// For what.\n")), 1)
        self.assertEqual(self.shape("a.cpp", "int a;\n" * 800), [])
        self.assertEqual(len(self.shape("a.cpp", "int a;\n" * 801)), 1)
        self.assertEqual(len(self.shape("a.cpp", "int a; \n")), 1)


class Links(unittest.TestCase):
    base = "convoy_base|STATIC_LIBRARY|messages/base|\nconvoy_actors|STATIC_LIBRARY|actors|convoy_base\n"

    def test_the_graph_follows_the_arrows(self):
        self.assertEqual(links(self.base), [])
        self.assertEqual(len(links(self.base + "convoy_messages|STATIC_LIBRARY|messages|convoy_actors\n")), 1)
        self.assertEqual(len(links(self.base + "convoy_config|STATIC_LIBRARY|config|$<LINK_ONLY:convoy_actors>\n")), 1)

    def test_libraries_of_others_stay_at_home(self):
        for library in ["CAF::core", "PkgConfig::ZMQ", "Threads::Threads"]:
            self.assertEqual(len(links(self.base + f"convoy_messages|STATIC_LIBRARY|messages|{library}\n")), 1, library)
            self.assertEqual(links(self.base + f"convoy_transport|STATIC_LIBRARY|node/transport|{library}\n"), [])

    def test_libraries_are_named_after_their_folder(self):
        self.assertEqual(len(links(self.base + "convoy_thing|STATIC_LIBRARY|master|\n")), 1)

    def test_an_empty_graph_is_no_success(self):
        self.assertEqual(len(links("")), 1)


if __name__ == "__main__":
    unittest.main()
