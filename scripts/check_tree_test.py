#!/usr/bin/env python3
"""What check_tree.py must find, and what it must let pass: a check that cannot fail is none."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_tree  # noqa: E402


def folder(*parts):
    # Put together here, since this file is checked as well.
    return "/" + "/".join(parts)


class Text(unittest.TestCase):
    def test_a_folder_of_one_machine_is_found(self):
        for text in [folder("work", "main"), f"cd {folder('root')}", f'"{folder("home", "alice")}/x"',
                     f"see {folder('tmp', 'notes.md')}", f"={folder('tmp', 'x')}", f"({folder('work')})",
                     f"{folder('tmp', '$name')}", ".." + folder("shared", "x.py")]:
            self.assertEqual(len(check_tree.check_text("a.md", f"one\n{text} two\n")), 1, text)

    def test_the_host_of_a_registry_is_found(self):
        for host in ["registry.npmjs", "pypi", "files.pythonhosted", "crates", "proxy.golang", "deb.debian"]:
            for end in ["org", "io"]:
                self.assertEqual(len(check_tree.check_text("a.sh", f"https://{host}.{end}/x\n")), 1, host)

    def test_what_is_no_folder_of_one_machine_passes(self):
        for text in [folder("tmp", "convoy-XXXXXX"), "and/or", "network" + folder("home"), "a" + folder("root", "b"),
                     "../node/work/x",
                     "https://example.org" + folder("home", "x"), "$HOME" + folder("work"), folder("workers"),
                     folder("usr", "bin", "env"), "${dir}" + folder("tmp", "x"), "../shared-memory", folder("tmp"),
                     "registry", "a debian package"]:
            self.assertEqual(check_tree.check_text("a.md", text + "\n"), [], text)


@unittest.skipUnless(shutil.which("git"), "no git here")
class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def git(self, *arguments):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        subprocess.run(["git", "-C", str(self.root), *arguments], check=True, capture_output=True, env=environment)

    def found(self):
        self.git("add", "--force", "--all")
        return check_tree.check_tree(self.root)

    def test_a_folder_without_git_is_told_apart(self):
        self.assertFalse(check_tree.is_clone(self.root))
        self.git("init")
        self.assertTrue(check_tree.is_clone(self.root))
        (self.root / "unpacked").mkdir()
        self.assertFalse(check_tree.is_clone(self.root / "unpacked"))

    def test_a_good_tree_passes(self):
        self.git("init")
        (self.root / ".gitignore").write_text("/build\n*.swp\n")
        (self.root / "a.md").write_text("words\n")
        (self.root / "seed").write_bytes(b"\0" + folder("work", "x").encode())
        self.assertEqual(self.found(), [])

    def test_each_fault_is_found(self):
        self.git("init")
        (self.root / ".gitignore").write_text("/build\n*.swp\n")
        (self.root / "a.md").write_text(f"see {folder('work', 'x')}\n")
        (self.root / "b.md").symlink_to("a.md")
        (self.root / "build").mkdir()
        (self.root / "build" / "c").write_text("\n")
        (self.root / "d.swp").write_text("\n")
        starts = [finding.split(":")[0] for finding in self.found()]
        self.assertEqual(sorted(starts), ["a.md", "b.md", "build/c", "d.swp"])


if __name__ == "__main__":
    unittest.main()
