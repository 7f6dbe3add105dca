"""`compare --check`: Perun's checks as their user meets them. What they reckon is tested in tests/unit/test_checks.c."""
import csv
import io
import json
import os
import random
import re
import tempfile
import time
import unittest

from common import run, run_on_terminal

HEADER = {'header': {'type': 'mixed', 'units': {'mixed(time delta)': 'us'}, 'cmd': 'c'}, 'collector_info': {'name': 'x', 'params': {}}}


def line(uid, b0, b1, r_square=.95, model='linear'):
    return {'uid': uid, 'model': model, 'method': 'full', 'r_square': r_square, 'x_start': 0, 'x_end': 10,
            'coeffs': [{'name': 'b0', 'value': b0}, {'name': 'b1', 'value': b1}]}


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.base = self.profile('base.perf', [('f', 10), ('g', 4), ('h', 5)], [line('f', 1, 1), line('g', 1, 1), line('h', 1, 1)])
        self.target = self.profile('target.perf', [('f', 30), ('g', 2), ('h', 6)], [line('f', 1, 2), line('g', 1.2, 1.2), line('h', 1, 1)])

    def profile(self, name, rows, models=(), **more):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w') as f:
            json.dump({**HEADER, 'resources': [{'uid': u, 'amount': a, **more} for u, a in rows], 'models': list(models)}, f)
        return path

    def check(self, *args, target=None):
        return run('compare', *args, self.base, target or self.target)

    def test_json(self):
        answer = self.check('--json', '--check', 'aat')
        self.assertEqual(1, answer.status, answer)
        self.assertEqual({'check': 'average_amount_threshold', 'strategy': None, 'location': 'f', 'result': 'Degradation', 'type': 'mixed', 'from': '10.0us', 'to': '30.0us',
                          'rate': 3, 'rate_relative': 0, 'confidence_type': 'no', 'confidence': 0, 'partial_intervals': []}, answer.json['changes'][0])
        self.assertEqual(['f', 'g', 'h'], [c['location'] for c in answer.json['changes']])
        self.assertEqual([], answer.json['skipped'])

    def test_all_checks_and_strategies(self):
        answer = self.check('--json', '--check', 'all', '--strategy', 'best-model,all-param').json
        self.assertEqual(['exclusive_time_outliers'], [s['check'] for s in answer['skipped']])
        found = [(c['check'], c['strategy']) for c in answer['changes']]
        expected = ['average_amount_threshold', 'best_model_order_equality', 'polynomial_regression', 'linear_regression', 'fast_check']
        self.assertEqual([(name, None) for name in expected for _ in 'fgh'] +
                         [(name, s) for name in ('integral_comparison', 'local_statistics') for s in ('best-model', 'all-param') for _ in 'fgh'], found)
        local = [c for c in answer['changes'] if c['check'] == 'local_statistics']
        self.assertEqual([20] * 6, [len(c['partial_intervals']) for c in local])

    def test_short_and_long_names_mean_the_same(self):
        self.assertEqual(self.check('--json', '--check', 'int,preg').json, self.check('--json', '--check', 'integral_comparison', '--check', 'polynomial_regression').json)

    def test_perun_compatible(self):
        right, perun = (self.check('--json', '--check', 'preg', *more).json['changes'][0]['rate'] for more in ((), ('-O', 'perun_compatible=yes')))
        self.assertAlmostEqual(5 / 6, right)  # means 6 and 11
        self.assertAlmostEqual(76, perun, 0)  # percent, of the mean of ratios

    def test_status(self):
        for args, status in ((('aat',), 1), (('aat', '--fail-on', 'never'), 0), (('bmoe',), 0), (('aat', '--fail-on', 'maybe'), 1)):
            self.assertEqual(status, self.check('--check', *args).status, args)
        maybe = self.profile('maybe.perf', [('f', 10)], [line('f', 1.2, 1.2)])
        self.assertEqual(0, self.check('--check', 'int', target=maybe).status)
        self.assertEqual(1, self.check('--check', 'int', '--fail-on', 'maybe', target=maybe).status)

    def test_text_has_what_changed_worst_first(self):
        answer = self.check('--check', 'aat')
        lines = answer.out.splitlines()
        self.assertEqual('1 degradation, 1 optimization, 1 unchanged', lines[0])
        self.assertEqual(['result', 'check', 'rate', 'from', '->', 'to', 'confidence', 'location'], lines[2].split())
        self.assertEqual(['Degradation', 'aat', '3x', '10.0us', '->', '30.0us', 'f'], lines[3].split())
        self.assertEqual(['Optimization', 'aat', '0.5x', '4.0us', '->', '2.0us', 'g'], lines[4].split())
        self.assertEqual(5, len(lines))
        self.assertIn('NoChange', self.check('--check', 'aat', '--all').out)
        self.assertEqual('3 unchanged\n', self.check('--check', 'aat', target=self.base).out)

    def test_text_says_what_was_skipped(self):
        without = self.profile('without.perf', [('f', 10)])
        out = self.check('--check', 'all', target=without).out
        self.assertIn('skipped bmoe, preg, lreg, fast, int, loc: the target has no stored models', out)
        self.assertIn('skipped eto: the base has no records with exclusive times', out)

    def test_narrow_terminal(self):
        answer = run_on_terminal('compare', '--check', 'all', self.base, self.target, columns=60)
        table = [re.sub('\x1b\\[[0-9;]*m', '', line) for line in answer.out.splitlines() if 'skipped' not in line]
        self.assertLessEqual(max(len(line) for line in table[1:]), 60)
        self.assertIn('Degradation', answer.out)

    def test_tables(self):
        rows = list(csv.DictReader(io.StringIO(self.check('--csv', '--check', 'aat,int').out)))
        self.assertEqual(6, len(rows))
        self.assertEqual(('Degradation', '3'), (rows[0]['result'], rows[0]['rate']))
        markdown = self.check('--md', '--check', 'aat').out
        self.assertTrue(markdown.startswith('**1 degradation, 1 optimization, 1 unchanged**\n\n| result '), markdown)

    def test_unknown_words_name_the_nearest(self):
        for args, words in ((('--check', 'aatt'), "did you mean 'aat'"), (('--check', 'linear_regresion'), "did you mean 'linear_regression'"),
                            (('--check', 'int', '--strategy', 'best-modell'), "did you mean 'best-model'"), (('--check', ''), 'there is no check'),
                            (('--check', 'aat', '-O', 'perun_compatible=maybe'), 'perun_compatible')):
            answer = self.check(*args)
            self.assertEqual(2, answer.status, answer)
            self.assertIn(words, answer.err)
            self.assertEqual(1, len(answer.err.splitlines()))

    def test_outliers(self):
        def times(name, values):
            path = os.path.join(self.folder.name, name)
            with open(path, 'w') as f:
                json.dump({**HEADER, 'resources': [{'uid': u, 'amount': 1, 'exclusive': v * 1000000, 'location': 'app'} for u, v in values]}, f)
            return path
        base = times('b.perf', [(f'f{i}', 10) for i in range(8)] + [('gone', 5)])
        target = times('t.perf', [(f'f{i}', 10 + (i - 3) / 8) for i in range(7)] + [('f7', 60), ('fresh', 3)])
        answer = run('compare', '--json', '--check', 'eto', base, target)
        results = {c['location']: c['result'] for c in answer.json['changes']}
        self.assertEqual(('SevereDegradation', 'NotInTarget', 'NotInBaseline', 'TotalDegradation'), tuple(results[k] for k in ('f7', 'gone', 'fresh', 'app')))
        self.assertNotIn('nan', answer.out)
        text = run('compare', '--check', 'eto', base, target)
        self.assertEqual('2 degradations, 1 new, 1 gone, 7 unchanged', text.out.splitlines()[0])
        # all alike: no deviation, so no confidence
        alike = run('compare', '--json', '--check', 'eto', base, base)
        self.assertEqual({None, 0}, {c['confidence'] for c in alike.json['changes']})
        self.assertEqual({'NoChange'}, {c['result'] for c in alike.json['changes']})

    def test_hostile_names_of_locations(self):
        def places(name, seed):
            path, letters = os.path.join(self.folder.name, name), random.Random(seed)
            with open(path, 'w') as f:
                json.dump({**HEADER, 'resources': [{'uid': 'f', 'amount': 1, 'exclusive': i, 'location': ''.join(letters.choices('ab', k=190))} for i in range(1000)]}, f)
            return path
        base, target = places('b.perf', 1), places('t.perf', 2)
        start = time.monotonic()
        answer = run('compare', '--json', '--check', 'eto', base, target)
        self.assertLess(time.monotonic() - start, 20)  # comparing each with each to the end would take minutes
        self.assertIn(answer.status, (0, 1))
        self.assertGreater(len(answer.json['changes']), 1000)

    def test_several_files_are_refused(self):
        answer = run('compare', '--check', 'aat', self.base, self.base, 'vs', self.target)
        self.assertEqual(2, answer.status, answer)
        self.assertIn('two files', answer.err)


if __name__ == '__main__':
    unittest.main()
