"""Regressograms, moving averages and kernel regressions against Perun's own (corpus/perun/oracle/nonparam). Left out is what rounding decides for Perun: the bandwidths of local polynomials and
searches, and the gamma of a constant. ASSAY_CORPUS names the corpus, else ../shared/corpus beside the repository; without it the test is skipped."""
import glob
import json
import math
import os
import re
import subprocess
import sys
import unittest

ASSAY = os.environ['ASSAY']
CORPUS = os.environ.get('ASSAY_CORPUS') or os.path.join(os.environ['ASSAY_SOURCE'], '..', 'shared', 'corpus')
ROOT = os.path.normpath(os.path.join(CORPUS, 'perun'))


def arguments(name):
    """The options for what the oracle calls e.g. 'moving_average sma window=3 center=True min_periods=None'."""
    word, said = name.split(), dict(re.findall(r'(\w+)=(\([^)]*\)|\S+)', name))
    if word[0] == 'regressogram':
        count = ('--buckets', said['bucket_number']) if 'bucket_number' in said else ('--bucket-method', said['bucket_method'])
        return ('--regressogram', '--statistic', said['statistic'], *count)
    if word[0] == 'moving_average':
        a = ('--moving-average', word[1])
        for key, option in (('window', '--window'), ('min_periods', '--min-periods'), ('window_type', '--window-type')):
            if said.get(key, 'None') != 'None':
                a += (option, said[key])
        if said.get('center') == 'False':
            a += ('--no-center',)
        return a + (('--decay', said['decay'].replace(':', '=')) if 'decay' in said else ())
    if word[1] in ('user-selection', 'method-selection') and said['reg'] == 'lc':
        return ('--kernel', word[1].split('-')[0], '--regression', 'lc', '--bandwidth', said['bw'])
    if word[1] == 'smoothing' and said['method'] == 'spatial-average':
        return ('--kernel', 'smoothing', '--kernel-type', said['kernel'], '--bandwidth', said['bw'])
    return None


def number(value):
    return float(value) if not isinstance(value, str) or value.lower() in ('nan', 'infinity', '-infinity') else value


def is_same(expected, got, scale):
    if isinstance(expected, list):
        return len(expected) == len(got) and all(is_same(a, b, scale) for a, b in zip(expected, got))
    expected, got = number(expected), number(got)
    if isinstance(expected, str):
        return expected == got
    return math.isclose(expected, got, rel_tol=1e-6, abs_tol=1e-9 * scale) or math.isnan(expected) and math.isnan(got)


def is_on_edge(x, buckets):
    """A point so near an edge of a bucket that rounding decides where it goes."""
    low, high = min(x), max(x)
    return low < high and any(abs(p - round(p)) < 1e-9 for p in ((v - low) / (high - low) * buckets for v in x if low < v < high))


class Nonparametric(unittest.TestCase):
    def check(self, path, name, oracle):
        r = subprocess.run([ASSAY, 'regress', '--json', *arguments(name), '-O', 'perun_compatible=yes', path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(0, r.returncode, r.stderr)
        got, inputs = {m['uid']: m for m in json.loads(r.stdout)['models']}, {i['uid']: i for i in oracle['input']}
        for model in oracle['results'][name]:
            points, mine = inputs[model['uid']], got[model['uid']]
            if 'x' not in points or name.startswith('regressogram') and is_on_edge(points['x'], len(model['bucket_stats'])):
                continue
            for key in model.keys() - {'of_key', 'kernel_mode'}:
                self.assertTrue(is_same(model[key], mine[key], max(map(abs, points['y']))), f'{key} of {model["uid"]}: {model[key]} {mine[key]}')

    def test_oracles(self):
        for file in sorted(glob.glob(os.path.join(ROOT, 'oracle', 'nonparam', '*.json'))):
            with open(file) as f:
                oracle = json.load(f)
            path = os.path.join(ROOT, 'profiles', os.path.basename(oracle['file']))
            for name, result in oracle['results'].items():
                if not os.path.exists(path) or not arguments(name) or isinstance(result, dict):
                    continue
                with self.subTest(file=os.path.basename(path), name=name):
                    self.check(path, name, oracle)


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'oracle')):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
