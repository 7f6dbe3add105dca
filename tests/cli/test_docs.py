"""What the documents show is true: every `$ assay …` in a ```console block, run from the repository, prints what stands below it,
and links between documents lead somewhere.

After a change of the output: ASSAY=build/assay ASSAY_SOURCE=. python3 tests/cli/test_docs.py --update, then read what git diff says."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ['ASSAY_SOURCE']
DOCUMENTS = ['README.md', 'CONTRIBUTING.md'] + sorted(os.path.relpath(f, ROOT) for f in glob.glob(os.path.join(ROOT, 'docs', '**', '*.md'), recursive=True))


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as f:
        return f.read()


def examples(text):
    """(line, command, what it prints) for each command of the console blocks."""
    for block in re.finditer(r'^```console\n(.*?)^```$', text, re.S | re.M):
        first_line = text.count('\n', 0, block.start(1)) + 1
        for m in re.finditer(r'^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)', block.group(1), re.M):
            yield first_line + block.group(1).count('\n', 0, m.start()), m.group(1), m.group(2)


class Shell:
    """A folder that looks like the repository, for the examples may write files, where `assay` is the command under test."""
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='assay-docs-')
        for name in ('examples', 'tests', 'docs'):
            os.symlink(os.path.abspath(os.path.join(ROOT, name)), os.path.join(self.folder.name, name))
        commands = os.path.join(self.folder.name, '.bin')
        os.mkdir(commands)
        os.symlink(os.path.abspath(os.environ['ASSAY']), os.path.join(commands, 'assay'))
        self.environment = dict(os.environ, PATH=commands + os.pathsep + os.environ['PATH'], LC_ALL='C.UTF-8', COLUMNS='120', TERM='dumb')
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder.name, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120).stdout


class Documents(unittest.TestCase):
    maxDiff = None

    def test_examples(self):
        self.assertGreater(len(list(examples(read('README.md')))), 5, 'examples are not recognised')
        for name in DOCUMENTS:
            with Shell() as shell:
                for line, command, expected in examples(read(name)):
                    with self.subTest(f'{name}:{line}: {command}'):
                        self.assertEqual(expected, shell.run(command))

    def test_links(self):
        for name in DOCUMENTS:
            for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', read(name)):
                if '://' not in target:
                    self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(name), target)), f'{name} links to {target}')


def update():
    for name in DOCUMENTS:
        text = read(name)
        with Shell() as shell:
            for _, command, shown in examples(text):
                text = text.replace(f'$ {command}\n{shown}', f'$ {command}\n{shell.run(command)}', 1)
        with open(os.path.join(ROOT, name), 'w', encoding='utf-8') as f:
            f.write(text)


if __name__ == '__main__':
    if sys.argv[1:] == ['--update']:
        update()
        sys.exit(0)
    unittest.main()
