"""assay predict: values, intervals, shares and efficiencies that can be reckoned by hand."""
import csv
import io
import json

from common import SMALL, Case, main, run, run_on_terminal


def text(points, metrics, parameters='p'):
    """metrics: {metric: {call path: function of the coordinates, or list of lists of repetitions}}"""
    lines = [f'PARAMETER {name}' for name in parameters.split()]
    lines.append('POINTS ' + ' '.join('(' + ' '.join(map(str, p)) + ')' for p in points))
    for metric, paths in metrics.items():
        lines.append(f'METRIC {metric}')
        for path, values in paths.items():
            lines.append(f'REGION {path}')
            for i, point in enumerate(points):
                numbers = values[i] if isinstance(values, list) else [values(*point)]
                lines.append('DATA ' + ' '.join(map(repr, numbers)))
    return '\n'.join(lines) + '\n'


P = [(2,), (4,), (8,), (16,), (32,)]
# 2 + 3 p and 10 p^2 without noise: no doubt about either. The whole: 2 + 3 p + 10 p^2
EXACT = text(P, {'time': {'main->line': lambda p: 2 + 3 * p, 'main->square': lambda p: 10 * p * p}})


class Predict(Case):
    def predict(self, content, *args):
        result = run('predict', self.write('in.txt', content), '-q', '--json', *args)
        self.assertFine(result)
        return result.json

    def assertRow(self, row, callpath, **expected):
        self.assertEqual(callpath, row['callpath'])
        for key, value in expected.items():
            if isinstance(value, (int, float)):
                self.assertAlmostEqual(value, row[key], delta=1e-6 * abs(value), msg=key)
            else:
                self.assertEqual(value, row[key], key)

    def test_values_shares_and_efficiencies(self):
        rows = self.predict(EXACT, '--at', 'p=64')
        total, square, line = rows
        whole = 2 + 3 * 64 + 10 * 64 * 64  # 41154, at the base 2 + 6 + 40 = 48
        self.assertRow(line, 'main->line', value=194, low=194, high=194, share=194 / whole, speedup=8 / 194, efficiency_weak=8 / 194,
                       efficiency_strong=8 / 194 / 32, extrapolation=2, order='linear', flags=['extrapolated'], metric='time',
                       point={'p': 64}, unit=None)
        self.assertRow(square, 'main->square', value=40960, low=40960, high=40960, share=40960 / whole, speedup=40 / 40960, order='quadratic')
        self.assertRow(total, None, value=whole, share=1, speedup=48 / whole, efficiency_strong=48 / whole / 32, order=None)
        self.assertLessEqual(total['low'], whole)
        self.assertGreaterEqual(total['high'], whole)

    def test_a_whole_of_one_call_path_is_as_sure_as_this(self):
        noisy = [[3.0, 3.4, 2.9], [5.1, 5.0, 5.6], [9.0, 9.9, 8.8], [17.5, 16.8, 18.0], [33.0, 31.5, 34.9]]
        for modeler in ('basic', 'refining'):
            total, path = self.predict(text(P, {'time': {'main': noisy}}), '--at', '128', '--modeler', modeler)
            self.assertEqual((None, 'main'), (total['callpath'], path['callpath']))
            self.assertEqual([path[k] for k in ('value', 'low', 'high')], [total[k] for k in ('value', 'low', 'high')])
            self.assertLess(path['low'], path['high'])

    def test_points_and_ranges(self):
        rows = self.predict(EXACT, '--at', 'p=8', '--at', 'p=64..256:x2', '--match', 'line')
        lines = [r for r in rows if r['callpath']]
        self.assertEqual([8, 64, 128, 256], [r['point']['p'] for r in lines])
        for row, value in zip(lines, (26, 194, 386, 770)):
            self.assertAlmostEqual(value, row['value'], delta=1e-6)
        self.assertEqual([1, 2, 4, 8], [r['extrapolation'] for r in lines])
        self.assertEqual([], lines[0]['flags'])

    def test_match_does_not_change_shares(self):
        row = self.predict(EXACT, '--at', '64', '--match', 'line$')[1]
        self.assertRow(row, 'main->line', share=194 / 41154)

    def test_base(self):
        row = self.predict(EXACT, '--at', '64', '--base', 'p=16', '--match', 'line')[1]
        self.assertRow(row, 'main->line', speedup=50 / 194, efficiency_strong=50 / 194 / 4, efficiency_weak=50 / 194)

    def test_other_parameters_stay_in_the_base(self):
        points = [(p, n) for p in (2, 4, 8, 16, 32) for n in (10, 20, 30, 40, 50)]
        content = text(points, {'time': {'f': lambda p, n: 100 + 2 * n * p}}, 'p n')
        row = self.predict(content, '--at', 'n=100,p=64')[1]
        self.assertRow(row, 'f', value=12900, speedup=500 / 12900, efficiency_strong=500 / 12900 / 32)
        row = self.predict(content, '--at', 'n=100,p=64', '--processes', 'n')[1]
        self.assertRow(row, 'f', value=12900, speedup=1380 / 12900, efficiency_strong=1380 / 12900 / 10)

    def test_strong_scaling(self):
        """Time 64 / p + 3: the work 64 + 3 p is what is modelled, and time is work / p."""
        content = text(P, {'time': {'f': lambda p: 64 / p + 3}})
        row = self.predict(content, '--at', '64', '--scaling', 'strong')[1]
        # at 64: work 256, time 4; at 2: time 35
        self.assertRow(row, 'f', value=256, speedup=35 / 4, efficiency_strong=35 / 4 / 32, efficiency_weak=35 / 4)

    def test_interval_of_noise(self):
        reps = [[10.1, 9.9], [9.8, 10.2], [10.3, 9.9], [9.9, 10.0], [10.2, 9.7]]
        content = text(P, {'time': {'f': reps}})
        row = self.predict(content, '--at', '16')[1]
        wide = self.predict(content, '--at', '16', '--confidence', '99%')[1]
        self.assertTrue(wide['low'] < row['low'] < 10 < row['high'] < wide['high'])
        # the standard deviation of a mean of two is about 0.14: a few of these, not many
        self.assertLess(row['high'] - row['low'], 14 * 0.14)

    def test_sorted_by_cost_and_cut(self):
        paths = {f'f{c}': (lambda p, c=c: c * p) for c in (3, 9, 1, 7)}
        content = text(P, {'time': paths, 'visits': {'f3': lambda p: 5, 'f9': lambda p: 6}})
        names = [(r['metric'], r['callpath']) for r in self.predict(content, '--at', '64')]
        self.assertEqual([('time', None), ('time', 'f9'), ('time', 'f7'), ('time', 'f3'), ('time', 'f1'),
                          ('visits', None), ('visits', 'f9'), ('visits', 'f3')], names)
        names = [r['callpath'] for r in self.predict(content, '--at', '64', '--metric', 'time', '-n', '2')]
        self.assertEqual([None, 'f9', 'f7'], names)

    def test_inclusive_values(self):
        paths = {'main': lambda p: 1 + 4 * p, 'main->a': lambda p: 3 * p, 'main->b': lambda p: float(p)}
        result = run('predict', self.write('in.txt', text(P, {'time': paths})), '--at', '16', '--json')
        self.assertEqual(0, result.status)
        self.assertOneLine(result, 'time look inclusive')
        total, main_row = result.json[:2]
        self.assertRow(total, None, value=65)
        self.assertRow(main_row, 'main', value=65, share=1)
        self.assertNotIn('alone has', result.err)
        # each model is right where there are measurements, and far out there is more of a than of all
        content = text(P, {'time': {'main': lambda p: 8 + p, 'main->a': lambda p: p * p / 32, 'main->b': lambda p: 6}})
        path = self.write('far.txt', content)
        for form in ([], ['--json'], ['--csv']):
            far = run('predict', path, '--at', '8', '--at', '1024', *form)
            self.assertEqual(0, far.status)
            self.assertIn('main->a alone has 3175 % of the total at p=1024', far.err)  # 32768 of 1032
            self.assertNotIn('at p=8', far.err)
        self.assertEqual('', run('predict', path, '--at', '1024', '--quiet').err)
        # here main is smaller than what lies below it
        paths['main'] = lambda p: 1 + p
        total = self.predict(text(P, {'time': paths}), '--at', '16')[0]
        self.assertRow(total, None, value=17 + 48 + 16)

    def test_few_points_have_no_interval(self):
        content = text(P[:2], {'time': {'f': lambda p: 3 * p}})
        row = self.predict(content, '--at', '64')[1]
        self.assertIsNone(row['low'])
        self.assertIsNone(row['high'])
        self.assertIn('few-points', row['flags'])

    def test_not_finite_values_harm_nobody_else(self):
        nan = float('nan')
        content = text(P, {'time': {'bad': [[nan]] * 5, 'good': lambda p: 2 + 3 * p}})
        rows = {r['callpath']: r for r in self.predict(content, '--at', '64')}
        self.assertRow(rows['good'], 'good', value=194, low=194, high=194)

    def test_csv_jsonl_and_markdown(self):
        path = self.write('in.txt', EXACT)
        rows = list(csv.DictReader(io.StringIO(run('predict', path, '-q', '--csv', '--at', '64').out)))
        self.assertEqual(['', 'main->square', 'main->line'], [r['callpath'] for r in rows])
        self.assertEqual(('p=64', 'extrapolated'), (rows[2]['point'], rows[2]['flags']))
        lines = run('predict', path, '-q', '--jsonl', '--at', '64').out.splitlines()
        self.assertEqual({'p': 64}, json.loads(lines[2])['point'])
        self.assertTrue(run('predict', path, '-q', '--md', '--at', '64').out.startswith('| point'))

    def test_text(self):
        path = self.write('in.txt', EXACT)
        result = run('predict', path, '--at', '8192', '--confidence', '0.9')
        self.assertEqual(0, result.status)
        self.assertOneLine(result, 'p=8192 is 256 times the largest measured value, 32: treat it as an order of magnitude')
        head, names, *rows = result.out.splitlines()
        self.assertEqual('p=8192: speed-up and efficiency against p=2, p counting the processes', head)
        self.assertRegex(names, r'^call path +time +90 % from +to +share % +speed-up +strong % +weak %$')
        self.assertRegex(rows[0], r'^\(total\)')
        self.assertRegex(rows[1], r'^main->square +671100000 ')
        self.assertRegex(rows[2], r'^main->line +24580 +24580 +24580 ')
        self.assertEqual(3, len(rows))

    def test_inside_there_is_no_warning(self):
        self.assertEqual('', run('predict', self.write('in.txt', EXACT), '--at', '8').err)

    def test_a_size_is_no_number_of_processes(self):
        content = EXACT.replace('PARAMETER p', 'PARAMETER size')
        out = run('predict', self.write('in.txt', content), '--at', '8').out
        self.assertIn('--processes size adds speed-up', out)
        self.assertNotIn('strong', out)

    def test_terminal(self):
        paths = {f'f{i}': (lambda p, i=i: i * p) for i in range(1, 31)}
        shown = run_on_terminal('predict', self.write('in.txt', text(P, {'time': paths})), '--at', '8').out
        self.assertIn('… 10 more; -n 0 shows all', shown)

    def test_output_file(self):
        path = self.write('in.txt', EXACT)
        self.assertFine(run('predict', path, '-q', '--at', '64', '--json', '-o', self.path('out.json')))
        self.assertEqual(3, len(json.loads(self.read('out.json'))))

    def test_wrong_usage(self):
        path = self.write('in.txt', EXACT)
        for args, *words in [
            ((), 'predict needs a point', '--at p=4096'),
            (('--at', 'q=1'), "no parameter 'q'", "'p'"),
            (('--at', 'p=x'), "'x'"),
            (('--at', 'p=8..1'), 'never reaches its end'),
            (('--at', '4', '--base', '1..8'), '--base takes one point'),
            (('--at', '4', '--match', 'nothing'), "no call path matches 'nothing'"),
            (('--at', '4', '--match', '('), 'no regular expression'),
            (('--at', '4', '--metric', 'tim'), "did you mean 'time'?"),
            (('--at', '4', '--processes', 'q'), "no parameter 'q'"),
            (('--at', '4', '--confidence', '1'), '--confidence'),
            (('--at', '4', '--confidence', ''), '--confidence'),
            (('--at', '4', '-n', '-1'), '--limit'),
            (('--at', '4', '--modeler', 'multi-parameter'), 'multi-parameter'),
        ]:
            with self.subTest(args=args):
                self.assertFails(run('predict', path, *args), 2, *words)
        self.assertFails(run('predict'), 2, 'needs a file')
        self.assertFails(run('predict', self.write('small.txt', SMALL), '--at', 'p=4'), 2, "'n'")
        self.assertFails(run('predict', self.path('absent'), '--at', '4'), 3)


if __name__ == '__main__':
    main()
