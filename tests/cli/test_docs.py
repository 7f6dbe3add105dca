"""What the documents show is true: every `$ assay …` in a ```console block of README.md, run from the repository, prints what stands below it,
and links between documents lead somewhere."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.environ['ASSAY_SOURCE']
DOCUMENTS = ['README.md', 'CONTRIBUTING.md'] + sorted(os.path.join('docs', f) for f in os.listdir(os.path.join(ROOT, 'docs')) if f.endswith('.md'))


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as f:
        return f.read()


def examples(text):
    """(line, command, what it prints) for each command of the console blocks."""
    for block in re.finditer(r'^```console\n(.*?)^```$', text, re.S | re.M):
        first_line = text.count('\n', 0, block.start(1)) + 1
        for m in re.finditer(r'^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)', block.group(1), re.M):
            yield first_line + block.group(1).count('\n', 0, m.start()), m.group(1), m.group(2)


class Documents(unittest.TestCase):
    maxDiff = None

    def test_readme_examples(self):
        found = list(examples(read('README.md')))
        self.assertGreater(len(found), 5, 'examples are not recognised')
        with tempfile.TemporaryDirectory(prefix='assay-docs-') as folder:
            # The examples may write files: they get a folder of their own that looks like the repository.
            for name in ('examples', 'tests', 'docs'):
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
            commands = os.path.join(folder, '.bin')
            os.mkdir(commands)
            os.symlink(os.environ['ASSAY'], os.path.join(commands, 'assay'))
            environment = dict(os.environ, PATH=commands + os.pathsep + os.environ['PATH'], LC_ALL='C.UTF-8', COLUMNS='120', TERM='dumb')
            for line, command, expected in found:
                with self.subTest(f'README.md:{line}: {command}'):
                    result = subprocess.run(command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True, timeout=120)
                    self.assertEqual(expected, result.stdout)

    def test_links(self):
        for name in DOCUMENTS:
            for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', read(name)):
                if '://' not in target:
                    self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(name), target)), f'{name} links to {target}')


if __name__ == '__main__':
    unittest.main()
