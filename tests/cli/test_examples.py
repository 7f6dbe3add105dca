"""The programs behind the files of examples/ still give what those say; the one that uses the library predicts from them."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from afperf_check import Capture

ASSAY = os.environ['ASSAY']
KERNELS = os.path.join(os.environ['ASSAY_SOURCE'], 'examples', 'kernels.txt')
MEASURE = os.path.join(os.environ['ASSAY_BUILD'], 'examples', 'measure-example')
DATABASE = os.path.join(os.environ['ASSAY_BUILD'], 'examples', 'heat-database-example')
PARTICLES = os.path.join(os.environ['ASSAY_BUILD'], 'examples', 'capture', 'particles-example')
PREDICT = os.path.join(os.environ['ASSAY_BUILD'], 'examples', 'predict-example')

OPERATIONS = '''select c.path as path, p.label as n, m.minimum as low, m.maximum as high from measurement m join metric t on t.id = m.metric
    join context c on c.id = m.context join point p on p.id = m.point where t.name = 'operations' '''


def query(path, statement, text=None):
    result = subprocess.run([ASSAY, 'sql', '--json', path, statement], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Examples(unittest.TestCase):
    def test_operations_are_repeatable(self):
        measured = subprocess.run([MEASURE, '128', '256'], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
        now = {(r['path'], r['n']): (r['low'], r['high']) for r in query('-', OPERATIONS, measured)}
        then = {(r['path'], r['n']): (r['low'], r['high']) for r in query(KERNELS, OPERATIONS)}
        self.assertEqual(20, len(now))
        self.assertEqual({k: v for k, v in then.items() if k[1] in ('(128)', '(256)')}, now)
        self.assertEqual((128 ** 3, 128 ** 3), now['main->matrix->multiply', '(128)'])

    def test_profiles_are_what_their_program_writes(self):
        folder = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
        with tempfile.TemporaryDirectory(prefix='assay-examples-') as made:
            for program in ('heat.py', 'sort.py'):
                subprocess.run([sys.executable, os.path.join(folder, program), made], check=True, timeout=60)
            self.assertEqual(['heat-2.cubex', 'heat.cubex', 'sort-1-again.perf', 'sort-1.perf', 'sort-2.perf'], sorted(os.listdir(made)))
            for name in os.listdir(made):
                with open(os.path.join(made, name), 'rb') as a, open(os.path.join(folder, name), 'rb') as b:
                    self.assertEqual(a.read(), b.read(), name)

    def test_the_set_is_what_its_program_writes(self):
        folder = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
        with tempfile.TemporaryDirectory(prefix='assay-examples-') as made:
            subprocess.run([sys.executable, os.path.join(folder, 'waves.py'), made], check=True, timeout=60)
            files = [sorted(os.path.relpath(os.path.join(at, f), top) for at, _, names in os.walk(os.path.join(top, 'waves-extra-prof')) for f in names) for top in (made, folder)]
            self.assertEqual(files[0], files[1])
            self.assertEqual(5, len(files[0]))
            for name in files[0]:
                with open(os.path.join(made, name), 'rb') as a, open(os.path.join(folder, name), 'rb') as b:
                    self.assertEqual(a.read(), b.read(), name)

    def test_the_database_is_what_its_program_writes(self):
        """After a change of the writer: make it again as examples/heat_database.c says."""
        folder = os.path.join(os.environ['ASSAY_SOURCE'], 'examples', 'heat-hpctoolkit')
        with tempfile.TemporaryDirectory(prefix='assay-examples-') as made:
            out = os.path.join(made, 'heat')
            subprocess.run([DATABASE, folder, out], check=True, timeout=60)
            files = [sorted(os.path.relpath(os.path.join(at, f), top) for at, _, names in os.walk(top) for f in names) for top in (out, folder)]
            self.assertEqual(files[0], files[1])
            for name in files[0]:
                with open(os.path.join(out, name), 'rb') as a, open(os.path.join(folder, name), 'rb') as b:
                    self.assertEqual(a.read(), b.read(), name)
        self.assertEqual(2, subprocess.run([DATABASE], stderr=subprocess.DEVNULL).returncode)

    def test_exports_are_what_their_program_writes(self):
        """Row by row: the pages of a database are SQLite's affair."""
        def content(path):
            with sqlite3.connect(f'file:{path}?mode=ro', uri=True) as db:
                return list(db.iterdump())
        folder = os.path.join(os.environ['ASSAY_SOURCE'], 'examples', 'gpu')
        with tempfile.TemporaryDirectory(prefix='assay-examples-') as made:
            subprocess.run([sys.executable, os.path.join(folder, 'make.py'), made], check=True, timeout=60)
            files = [sorted(os.path.relpath(os.path.join(at, f), top) for at, _, names in os.walk(top) for f in names if f.endswith('.sqlite')) for top in (made, folder)]
            self.assertEqual(files[0], files[1])
            self.assertEqual(8, len(files[0]))
            for name in files[0]:
                self.assertEqual(content(os.path.join(made, name)), content(os.path.join(folder, name)), name)

    def test_particles_record_themselves(self):
        with tempfile.TemporaryDirectory(prefix='assay-examples-') as made:
            out = os.path.join(made, 'out.afperf')
            subprocess.run([PARTICLES, '50'], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, ASSAY_CAPTURE=out), timeout=60)
            capture = Capture(out)
        self.assertEqual({'simulate': 1, 'step': 20, 'forces': 20, 'move': 20, 'sort': 5}, dict(capture.labels()))
        self.assertEqual('50', capture.runs[capture.run_of_thread(0)]['tags']['size'])
        pairs = {capture.regions[owner].path: int(text) for kind, owner, _, _, name, text in capture.values if kind == 'RegionAggregate' and name == 'pairs'}
        self.assertEqual(20 * 50 ** 2, pairs['simulate',])
        self.assertEqual(50 ** 2, pairs['simulate', 'step', 'forces'])
        self.assertTrue(capture.intervals)
        for arguments in ([], ['many'], ['1']):
            self.assertEqual(2, subprocess.run([PARTICLES, *arguments], stderr=subprocess.DEVNULL).returncode)

    def test_wrong_sizes_are_refused(self):
        self.assertEqual(2, subprocess.run([MEASURE, 'many'], stderr=subprocess.DEVNULL).returncode)


    def test_predictions_of_a_program_that_uses_the_library(self):
        out = subprocess.run([PREDICT, KERNELS, 'operations', '2048'], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout
        rows = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith('main')}
        self.assertEqual(10, len(rows))
        self.assertAlmostEqual(1, float(rows['main->matrix->multiply']) / 2048 ** 3, places=3)  # exact: n multiplications for each of n * n elements
        self.assertTrue(out.splitlines()[0].startswith('main '), out)
        self.assertEqual('at 2 times what was measured', out.splitlines()[-1])
        for arguments in ([], [KERNELS, 'time'], [KERNELS, 'time', '1', '2'], ['none.txt', 'time', '1'], [KERNELS, 'no such metric', '1']):
            self.assertNotEqual(0, subprocess.run([PREDICT, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode, arguments)


if __name__ == '__main__':
    unittest.main()
