"""Real Perun profiles against what Perun itself makes of them (corpus/perun/oracle/profiles). ASSAY_CORPUS names the corpus, else ../shared/corpus beside
the repository; without it the test is skipped."""
import collections
import json
import math
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(os.path.join(CORPUS, 'perun'))
ORACLES = os.path.join(ROOT, 'oracle', 'profiles')


def run(*arguments):
    return subprocess.run([ASSAY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def row_key(row):
    """Rows are compared as sets of (column, value); true is 1, what is null is not there."""
    return frozenset((k, float(v) if isinstance(v, (int, float)) and abs(v) < 2**53 else v) for k, v in row.items() if v is not None)


class Corpus(unittest.TestCase):
    def answer(self, *arguments):
        result = run(*arguments)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def check_sums(self, rows, sums):
        for key, expected in sums.items():
            values = [r[key] for r in rows if is_number(r.get(key))]
            self.assertEqual(expected['count'], len(values), key)
            if values:
                self.assertTrue(math.isclose(expected['sum'], math.fsum(values), rel_tol=1e-9, abs_tol=1e-12), key)
                self.assertEqual((expected['min'], expected['max']), (min(values), max(values)), key)

    def check_profile(self, path, oracle):
        with open(path, encoding='utf-8') as f:
            has_snapshots = bool(json.load(f).get('snapshots'))
        info = self.answer('info', '--json', path)
        self.assertEqual('perun', info['format'])
        rows = [{k: v for k, v in r.items() if k not in ('id', 'run')} for r in self.answer('sql', '--json', path, 'select * from record order by id')]
        counts = oracle['counts']
        if isinstance(counts, dict) and 'resources' in counts:
            self.assertEqual(counts['resources'], info['records'])
            if not has_snapshots:  # whose models Perun drops
                self.assertEqual(counts['models'], info['models'])
        names = {k.replace('source:', '', 1) if k in ('source:id', 'source:run') else k for r in rows for k, v in r.items() if v is not None}
        self.assertEqual(set(oracle['all_resource_fields_sorted']), names)
        if 'error' not in oracle['numeric_sums']:
            self.check_sums(rows, oracle['numeric_sums'])
        first = oracle['all_resources_flattened_first200']
        if isinstance(first, list):
            missing = collections.Counter(row_key(r) for _, r in first) - collections.Counter(map(row_key, rows))
            self.assertEqual([], list(missing)[:3])

    def test_as_perun(self):
        count = 0
        for name in sorted(os.listdir(ORACLES)):
            path = os.path.join(ROOT, 'profiles', name[:-len('.json')])
            if not os.path.exists(path):
                continue
            with open(os.path.join(ORACLES, name), encoding='utf-8') as f:
                oracle = json.load(f)
            if oracle.get('load') != 'ok':
                continue
            count += 1
            with self.subTest(name):
                self.check_profile(path, oracle)
        self.assertGreater(count, 0, 'no oracles')


if __name__ == '__main__':
    if not os.path.isdir(ORACLES):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
