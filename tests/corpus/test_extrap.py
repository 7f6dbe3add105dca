"""Real Extra-P files against what Extra-P itself makes of them (corpus/extrap/oracle). ASSAY_CORPUS names the corpus, else ../shared/corpus beside
the repository; without it the test is skipped."""
import json
import math
import os
import re
import subprocess
import unittest

from oracles import ASSAY, ROOT, main, oracles


MEASUREMENTS = '''select c.path, t.name as metric, p.label, m.mean, m.median, m.minimum as min, m.maximum as max, m.std, m.repetitions
    from measurement m join point p on p.id = m.point join metric t on t.id = m.metric join context c on c.id = m.context'''
POINTS = 'select c.point, c.value from coordinate c order by c.point, c.parameter'
MODELS = 'select t.name as metric, c.path, m.RSS, m.SMAPE from model m join metric t on t.id = m.metric join context c on c.id = m.context order by m.id'


def run(*arguments):
    return subprocess.run([ASSAY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def number(x):
    """Answers and oracles write what JSON has no number for as words; None and NaN both say: unknown."""
    return math.nan if x is None else float(x)


def close(expected, got, floor):
    expected, got = number(expected), number(got)
    if math.isnan(expected) or math.isnan(got) or math.isinf(expected) or math.isinf(got):
        return expected == got or (math.isnan(expected) and math.isnan(got))
    return abs(expected - got) <= max(1e-9 * max(abs(expected), abs(got)), floor)


def point_of(label):
    return tuple(float(x) for x in label.strip('()').split(','))


class Corpus(unittest.TestCase):
    def answer(self, *arguments):
        result = run(*arguments)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def check_statistics(self, path, measurements):
        expected = {(m['callpath'], m['metric'], tuple(map(float, p['coordinate']))): p for m in measurements for p in m['points']}
        got = {(r['path'], r['metric'], point_of(r['label'])): r for r in self.answer('sql', '--json', path, MEASUREMENTS)}
        self.assertEqual(set(expected), set(got))
        for key, e in expected.items():
            known = [abs(number(e[k])) for k in ('min', 'max', 'mean') if e.get(k) not in (None, 'masked')]
            # Deviations of almost equal numbers are rounding noise relative to the numbers.
            floor = 1e-12 * max([k for k in known if math.isfinite(k)] or [0])
            for word in ('mean', 'median', 'min', 'max', 'std'):
                # "masked" is how numpy says that infinities are among the numbers.
                if e.get(word) != 'masked' and not close(e.get(word), got[key][word], floor):
                    self.fail(f'{word} at {key}: expected {e.get(word)}, got {got[key][word]}')
            if e.get('repetitions') is not None:
                self.assertEqual(e['repetitions'], got[key]['repetitions'], key)

    def check_file(self, path, oracle):
        info = self.answer('info', '--json', path)
        self.assertEqual(oracle['parameters'], info['parameters'])
        self.assertEqual(set(oracle['metrics']) | {m['metric'] for m in oracle['measurements']}, {m['name'] for m in info['metrics']})
        self.assertEqual([], [p for p in info['problems'] if p['severity'] == 'error'])
        points = {}
        for row in self.answer('sql', '--json', path, POINTS):
            points.setdefault(row['point'], []).append(float(row['value']))
        self.assertEqual(sorted([float(x) for x in c] for c in oracle['coordinates']), sorted(points.values()))
        self.assertEqual(len(points), info['points'])
        paths = {r['path'] for r in self.answer('sql', '--json', path, 'select path from context')}
        self.assertEqual(set(), set(oracle['callpaths']) - paths)
        self.check_statistics(path, oracle['measurements'])
        stored = [m for s in oracle.get('stored_models', []) for m in s['models']]
        models = self.answer('sql', '--json', path, MODELS)
        self.assertEqual(sorted((m['metric'], m['callpath']) for m in stored), sorted((m['metric'], m['path']) for m in models))

    def check_refused(self, path, error):
        result = run('info', '--json', path)
        if 'does not match the number of coordinates' in error['message']:
            # A call path that misses points: Extra-P gives up, we keep it and say so.
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn('missing-points', [p['rule'] for p in json.loads(result.stdout)['problems']])
            return
        self.assertEqual(3, result.returncode)
        self.assertEqual('', result.stdout)
        place = re.search(r'in line (\d+)', error['message'])  # counted from 0
        self.assertRegex(result.stderr, r'\Aassay: .*' + re.escape(os.path.basename(path)) + (f':{int(place.group(1)) + 1}' if place else '') + r':[^\n]*\n\Z')

    def test_as_extrap(self):
        count = 0
        for oracle in oracles():
            count += 1
            path = os.path.join(ROOT, oracle['input'])
            with self.subTest(oracle['input']):
                if 'error' in oracle:
                    self.check_refused(path, oracle['error'])
                else:
                    self.check_file(path, oracle)
        self.assertGreater(count, 0, 'no oracles')


if __name__ == '__main__':
    main()
