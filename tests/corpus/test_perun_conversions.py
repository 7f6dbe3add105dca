"""Datasets of other formats as Perun profiles and in comparisons: nothing is counted twice or forgotten, and both layouts say the same."""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(CORPUS)
LARGEST = 300000
ROUNDING = 1e-5  # databases in XML have six digits of either side of a metric


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def run(*args):
    return subprocess.run([ASSAY, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def total(path, metric):
    """Of what folded stacks say; None where there is nothing to fold."""
    result = run('flame', '--folded', '--metric', metric, path)
    return None if result.returncode else math.fsum(float(line.rpartition(' ')[2]) for line in result.stdout.splitlines())


class Conversions(unittest.TestCase):
    def sql(self, path, statement):
        result = run('sql', '--json', path, statement)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def rows(self, path):
        return sorted(json.dumps({k: v for k, v in row.items() if k not in ('id', 'time') and v is not None}, sort_keys=True) for row in self.sql(path, 'select * from record'))

    def check(self, path, out):
        """How many metrics were compared."""
        metrics = {r['type']: r['amount'] for r in self.sql(out, 'select type, sum(amount) as amount from record group by 1')} if json.loads(run('info', '--json', out).stdout)['records'] else {}
        n = 0
        for metric in list(metrics)[:4]:
            expected = total(path, metric)
            if expected is None:
                continue
            n += 1
            self.assertTrue(math.isclose(expected, total(out, metric), rel_tol=ROUNDING), (path, metric, expected, total(out, metric)))
            self.assertTrue(math.isclose(expected, metrics[metric], rel_tol=ROUNDING), (path, metric, expected, metrics[metric]))
        return n

    def test_totals_and_layouts(self):
        n = 0
        with tempfile.TemporaryDirectory() as folder:
            out, old, new = (os.path.join(folder, name + '.perf') for name in ('out', 'old', 'new'))
            for path in sorted(glob.glob(os.path.join(ROOT, 'cube', 'algebra', '*.cubex')) + glob.glob(os.path.join(ROOT, 'hpctoolkit', 'databases', '*'))):
                if size_of(path) > LARGEST or run('convert', path, out).returncode:
                    continue
                with self.subTest(os.path.relpath(path, ROOT)):
                    n += self.check(path, out)
                    self.assertEqual(0, run('convert', '-O', 'layout=old', out, old).returncode)
                    self.assertEqual(0, run('convert', '-O', 'layout=new', old, new).returncode)
                    self.assertEqual(self.rows(out), self.rows(old))
                    self.assertEqual(self.rows(out), self.rows(new))
        self.assertGreater(n, 50)

    def test_contexts_without_a_place(self):
        path = os.path.join(ROOT, 'hpctoolkit', 'databases', 'made-v4-small_2023-S-sum')
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, 'out.perf')
            result = run('convert', path, out)
            self.assertIn('the values of 9 contexts without a place in the call tree', result.stderr)
            self.assertAlmostEqual(1.211381, total(out, 'CPUTIME (sec)'), 6)

    def test_comparisons_add_up(self):
        """Call paths of a comparison make the total that the root has, also where code has no function: over a third of this database."""
        path = os.path.join(ROOT, 'hpctoolkit', 'databases', 'hatchet-cpi-v4')
        root = self.sql(path, "select v.value from value v join metric m on m.id = v.metric join context c on c.id = v.context where c.parent is null and c.region is not null and m.kind = 'inclusive'")
        answer = json.loads(run('compare', '--json', path, path).stdout)
        expected = math.fsum(row['value'] for row in root)
        self.assertAlmostEqual(expected, answer['totals'][0]['base'], 9)
        self.assertAlmostEqual(expected, math.fsum(entry['base'] for entry in answer['entries']), 9)


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'hpctoolkit')):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
