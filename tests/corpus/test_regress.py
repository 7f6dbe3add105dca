"""Real Perun profiles against Perun's own regression analysis (corpus/perun/oracle/regression). ASSAY_CORPUS names the corpus, else ../shared/corpus beside the repository; without it the
test is skipped."""
import glob
import json
import math
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(os.path.join(CORPUS, 'perun'))
ORACLES = sorted(glob.glob(os.path.join(ROOT, 'oracle', 'regression', '*.json')))
COMPATIBLE = ('-O', 'perun_compatible=yes')


def load(path):
    with open(path) as f:
        return json.load(f)


def profile_of(oracle):
    name = os.path.basename(oracle['file'])
    name = name if name.endswith('.perf') else name + '.perf'
    return os.path.join(ROOT, 'profiles', 'history__' + name if oracle['file'].startswith('history/') else name)


def near(a, b, relative=1e-6, absolute=1e-12):
    return abs(a - b) <= max(relative * max(abs(a), abs(b)), absolute)


def coefficients(model):
    return [c['value'] for c in sorted(model['coeffs'], key=lambda c: c['name'])]


def same(a, b):
    return (a['model'] == b['model'] and near(a['x_start'], b['x_start']) and near(a['x_end'], b['x_end']) and near(a['r_square'], b['r_square'], 1e-6, 1e-6)
            and len(a['coeffs']) == len(b['coeffs']) and all(map(near, coefficients(a), coefficients(b))))


def by_uid(models):
    out = {}
    for m in models:
        out.setdefault(m['uid'], []).append(m)
    return out


@unittest.skipUnless(ORACLES, 'no corpus')
class Regression(unittest.TestCase):
    def answer(self, oracle, *arguments):
        result = subprocess.run([ASSAY, 'regress', '--json', '--of', oracle['of_key'], '--per', oracle['per_key'], *arguments, profile_of(oracle)],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def oracles(self):
        """Those whose sums Perun can hold: addresses and time stamps lose all its digits."""
        for path in ORACLES:
            oracle = load(path)
            if oracle['per_key'] in ('structure-unit-size', 'call-order', 'snapshot') and os.path.exists(profile_of(oracle)):
                yield os.path.basename(path), oracle

    def test_full(self):
        compared = 0
        for name, oracle in self.oracles():
            with self.subTest(name):
                expected = oracle['regression_analysis']['full']
                if 'models' not in expected:  # where Perun fails as a whole
                    continue
                got = {(m['uid'], m['model']): m for m in self.answer(oracle, '--method', 'full', *COMPATIBLE)['models']}
                for m in expected['models']:
                    mine = got.get((m['uid'], m['model']))
                    if mine is None or math.isnan(float(m['r_square'])):
                        continue  # Perun divides by 1e-6 where there is nothing to fit
                    if m['r_square'] < 1e-9 or mine['r_square'] < 1e-9:
                        continue  # all amounts are the same: what Perun has is rounding
                    self.assertTrue(same(m, mine), f'{m}\n{mine}')
                    compared += 1
        self.assertGreater(compared, 500)

    def parts(self, name, *arguments):
        """Of the methods that take the best, Perun's choice where it can be told from the second best."""
        compared = equal = 0
        for _, oracle in self.oracles():
            expected = oracle['regression_analysis'][name]
            if 'models' not in expected:
                continue
            got = by_uid(self.answer(oracle, *arguments, *COMPATIBLE)['models'])
            for uid, models in by_uid(expected['models']).items():
                mine = [m for m in got.get(uid, []) if m['model'] != 'constant']
                models = [m for m in models if m['model'] != 'constant']
                compared += 1
                equal += len(mine) == len(models) and all(map(same, models, mine))
        self.assertGreater(compared, 50)
        self.assertGreater(equal, 0.9 * compared, f'{name}: {equal} of {compared}')

    def test_interval(self):
        for steps in (2, 3, 5):
            self.parts(f'interval steps={steps}', '--method', 'interval', '--steps', str(steps))

    def test_bisection(self):
        self.parts('bisection', '--method', 'bisection')

    def test_random_methods_answer_with_full_fits(self):
        for name, oracle in self.oracles():
            with self.subTest(name):
                full = {(m['uid'], m['model']): m for m in self.answer(oracle)['models']}
                for method in ('iterative', 'initial_guess'):
                    for m in self.answer(oracle, '--method', method)['models']:
                        self.assertTrue(same(full[m['uid'], m['model']], m), m)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
