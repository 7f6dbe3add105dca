"""assay regress: models whose coefficients are known, what cannot be fitted, and every way to ask for an answer."""
import csv
import io
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run, run_on_terminal

SORT = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples', 'sort-1.perf')
LINE = [(1, 3), (2, 5), (3, 7), (4, 9)]


def resources(uid, points):
    return [{'uid': uid, 'type': 'mixed', 'amount': y, 'structure-unit-size': x} for x, y in points]


def profile(rows, **more):
    return json.dumps({'header': {'type': 'mixed', 'units': {'mixed': 'us'}, 'cmd': 'a', 'workload': 'b'},
                       'collector_info': {'name': 'complexity', 'params': {}}, 'postprocessors': [], 'resources': rows, **more})


class Regress(Case):
    def ask(self, *args):
        r = run('regress', '--json', *args)
        self.assertEqual(0, r.status, r)
        return r.json

    def models(self, *args):
        return {(m['uid'], m['model']): m for m in self.ask(*args)['models']}

    def small(self, name='f.perf', points=LINE):
        return self.write(name, profile(resources('f', points)))


class Fitting(Regress):
    def test_a_line(self):
        answer = self.ask(self.small())
        self.assertEqual([], answer['skipped'])
        models = {m['model']: m for m in answer['models']}
        self.assertEqual(['exponential', 'linear', 'logarithmic', 'power', 'quadratic', 'constant'], [m['model'] for m in answer['models']])
        line = models['linear']
        self.assertEqual(['b0', 'b1'], [c['name'] for c in line['coeffs']])
        self.assertAlmostEqual(1, line['coeffs'][0]['value'])
        self.assertAlmostEqual(2, line['coeffs'][1]['value'])
        self.assertAlmostEqual(1, line['r_square'])
        self.assertEqual((1, 4, 'full'), (line['x_start'], line['x_end'], line['method']))
        self.assertEqual(6, models['constant']['coeffs'][0]['value'])
        # 8 up over 3 along is an angle of 69.44 degrees; Perun divides its radians by 90
        self.assertAlmostEqual(1 - math.degrees(math.atan2(8, 3)) / 90, models['constant']['r_square'])
        perun = self.models('-O', 'perun_compatible=yes', self.path('f.perf'))
        self.assertAlmostEqual(1 - math.atan2(8, 3) / 90, perun['f', 'constant']['r_square'])

    def test_keys(self):
        rows = [{'uid': 'f', 'cost': 2 * i + 1, 'size': i, 'amount': 1} for i in range(5)]
        path = self.write('f.perf', profile(rows))
        self.assertAlmostEqual(2, self.models('--of', 'cost', '--per', 'size', path)['f', 'linear']['coeffs'][1]['value'])
        r = run('regress', path)
        self.assertEqual(0, r.status)
        self.assertIn("no record has numbers for both 'amount' and 'structure-unit-size'", r.err)
        self.assertIn('cost', r.err)

    def test_what_cannot_be_fitted_stops_nothing(self):
        rows = (resources('few', [(1, 1), (2, 2)]) + resources('good', LINE) + resources('same', [(1, 1), (1, 2), (1, 3)])
                + resources('text', [(1, '1'), (2, True), (3, None)]))
        answer = self.ask(self.write('f.perf', profile(rows)))
        self.assertEqual({'good'}, {m['uid'] for m in answer['models']})
        self.assertEqual([('few', None), ('same', None), ('text', None)], [(s['uid'], s['model']) for s in answer['skipped']])
        self.assertEqual('all points have the same x', answer['skipped'][1]['reason'])
        shown = run('regress', self.path('f.perf')).out
        self.assertIn('skipped: few: fewer than 3 usable points; same: all points have the same x; text: fewer than 3 usable points', shown)

    def test_an_empty_profile(self):
        self.assertEqual({'models': [], 'skipped': []}, self.ask(self.write('f.perf', profile([]))))

    def test_several_files_are_an_array(self):
        a, b = self.small('a.perf'), self.small('b.perf', [(x, 2 * y) for x, y in LINE])
        answers = self.ask('--models', 'linear', a, b)
        self.assertEqual([2, 4], [round(x['models'][0]['coeffs'][1]['value'], 9) for x in answers])
        rows = list(csv.DictReader(io.StringIO(run('regress', '--csv', '--models', 'linear', a, b).out)))
        self.assertEqual([a, b], [r['file'] for r in rows])
        self.assertEqual(['1 + 2*x', '2 + 4*x'], [r['formula'] for r in rows])
        lines = run('regress', '--jsonl', '--models', 'linear', a).out.splitlines()
        self.assertAlmostEqual(2, json.loads(lines[0])['b1'])

    def test_models_and_plot_points(self):
        answer = self.ask('--models', 'linear,power', '--plot-points', '3', self.small(points=[(0, 1)] + LINE))
        self.assertEqual(['linear', 'power'], [m['model'] for m in answer['models']])
        line = answer['models'][0]
        self.assertEqual([1e-6, 2, 4], line['plot_x'])
        self.assertAlmostEqual(5, line['plot_y'][1])
        self.assertEqual(['linear', 'constant'], [m['model'] for m in self.ask('--models', 'constant', self.path('f.perf'))['models']])

    def test_methods(self):
        path = self.small(points=[(i, i * i) for i in range(1, 10)])
        parts = self.ask('--method', 'interval', path)['models']
        self.assertEqual([(1, 3), (4, 6), (7, 9)], [(m['x_start'], m['x_end']) for m in parts])
        self.assertEqual({'power'}, {m['model'] for m in parts})
        self.assertEqual([(1, 5), (6, 9)], [(m['x_start'], m['x_end']) for m in self.ask('--method', 'interval', '--steps', '2', path)['models']])
        for method in ('iterative', 'initial_guess'):
            found = self.ask('--method', method, '--seed', '5', path)
            self.assertEqual(found, self.ask('--method', method, '--seed', '5', path))
            self.assertEqual(method, found['models'][0]['method'])
        self.assertEqual(1, len(self.ask('--method', 'bisection', path)['models']))

    def test_random_methods_begin_where_the_file_does(self):
        """As Perun's, x_start takes in the first point, whether it can be used or not; no other one that cannot, whatever the seed."""
        points = [(2, 8), (3, 27), (0, 5), (4, 64), (5, 125), (6, 216)]
        for method in ('iterative', 'initial_guess'):
            for seed in range(8):
                models = self.models('-O', 'perun_compatible=yes', '--models', 'power', '--steps', '1', '--method', method, '--seed', str(seed), self.small(points=points))
                self.assertEqual((2, 6), (models['f', 'power']['x_start'], models['f', 'power']['x_end']))
        models = self.models('-O', 'perun_compatible=yes', '--models', 'power', '--steps', '1', '--method', 'iterative', self.small(points=[points[2]] + points[:2] + points[3:]))
        self.assertEqual((0, 6), (models['f', 'power']['x_start'], models['f', 'power']['x_end']))

    def test_experiments_of_other_formats(self):
        path = self.write('e.txt', 'PARAMETER p\nPOINTS 1 2 4 8\nREGION main->f\nMETRIC time\nDATA 3\nDATA 5\nDATA 9\nDATA 17\nMETRIC bytes\nDATA 1\nDATA 4\nDATA 16\nDATA 64\n')
        line = self.models(path)['main->f', 'linear']
        self.assertAlmostEqual(1, line['coeffs'][0]['value'])
        self.assertAlmostEqual(2, line['coeffs'][1]['value'])
        power = self.models('--of', 'bytes', '--per', 'p', path)['main->f', 'power']
        self.assertAlmostEqual(2, power['coeffs'][1]['value'])
        shown = run('regress', path).out
        self.assertIn('1 call path, time over p (x: 1 … 8)', shown)
        self.assertIn('1 + 2·x', shown)
        self.assertFails(run('regress', '--of', 'byts', path), 2, "did you mean 'bytes'?")
        self.assertFails(run('regress', '--per', 'q', path), 2, "no parameter 'q'")

    def test_nothing_to_fit(self):
        r = run('regress', os.path.join(os.path.dirname(SORT), 'heat.cubex'))
        self.assertEqual(0, r.status)
        self.assertIn('there is nothing to fit', r.err)


class Asking(Regress):
    def test_wrong_words(self):
        path = self.small()
        for args, words in ((('--models', 'liner'), ["there is no model 'liner'", "did you mean 'linear'?"]),
                            (('--models', 'regressogram'), ["no model 'regressogram'"]),
                            (('--models', 'cubic'), ['there are constant, linear']),
                            (('--method', 'magic'), ["--method cannot be 'magic'", 'bisection']),
                            (('--steps', '0'), ['--steps cannot be 0']),
                            (('--steps', 'x'), ['whole number']),
                            (('--moving-average', 'sma', '--min-periods', '0'), ['--min-periods cannot be 0']),
                            (('--kernel', 'smoothing', '--smoothing', 'local-polynomial', '--order', '0'), ['--order cannot be 0']),
                            (('--regressogram', '--stored'), ['exclude each other', 'one analysis at a time']),
                            (('--regressogram', '--steps', '3'), ['--steps is for fitting models']),
                            (('--buckets', '3'), ['--buckets belongs to --regressogram']),
                            (('--moving-average', 'sma', '--decay', 'com=1'), ['--decay belongs to --moving-average ema']),
                            (('--moving-average', 'ema', '--decay', 'half=1'), ['com=V']),
                            (('--moving-average', 'ema', '--decay', 'alpha=2'), ['up to 1']),
                            (('--moving-average', 'sma', '--window-type', 'sofa'), ["no window type 'sofa'"]),
                            (('--kernel', 'user'), ['needs a bandwidth']),
                            (('--kernel', 'user', '--bandwidth', '-1'), ['not below 0']),
                            (('--kernel', 'estimator', '--bandwidth', 'scott'), ['cv_ls|aic']),
                            (('--kernel', 'ridge', '--gamma', '1,2'), ['LO,HI,STEP']),
                            (('--clusterize', 'sort_order'), ['-o FILE.perf']),
                            (('--normalize', '-o', self.path('x.json')), ['-o FILE.perf']),
                            (('--stored', '-o', self.path('x.perf')), ['adds no models']),
                            (('--log', 'x'), ['--plot']),
                            (('--plot', 'f', '--csv'), ['a shape of its own']),
                            (('--plot', 'f', '-o', self.path('x.txt')), ['.svg']),
                            (('--plot', 'g'), ["there is no uid 'g'"]),
                            (('-o', self.path('x.svg')), ['--plot']),
                            (('-o', self.path('x.odd')), ['the ending does not say']),
                            (('-O', 'perun_compatible=perhaps'), ['perun_compatible']),
                            (('-O', 'perun_compatable=yes'), ['perun_compatable'])):
            with self.subTest(args):
                self.assertFails(run('regress', *args, path), 2, *words)
        self.assertFails(run('regress'), 2, 'needs a file')
        self.assertFails(run('regress', path, path, '-o', self.path('x.perf')), 2, 'holds one profile')
        self.assertFails(run('regress', path, '-o', path), 3)
        self.assertEqual(['f.perf'], self.files())

    def test_a_missing_file(self):
        r = run('regress', self.path('none.perf'), self.small())
        self.assertEqual(3, r.status)
        self.assertOneLine(r, 'none.perf')
        self.assertIn('1 + 2·x', r.out)


class Showing(Regress):
    def test_the_best_of_each_uid(self):
        path = self.write('f.perf', profile(resources('f', LINE) + resources('g', [(i, 2 * i * i) for i in range(1, 9)])))
        shown = run('regress', path).out.splitlines()
        self.assertEqual(f'{path}: 2 uids, amount [us] over structure-unit-size (x)', shown[0])
        self.assertEqual(['f', 'linear', '1.0000', '1', '…', '4', '1', '+', '2·x'], shown[2].split())
        self.assertEqual(['g', 'power', '1.0000', '1', '…', '8', '2·x^2'], shown[3].split())
        self.assertEqual(4, len(shown))
        self.assertEqual(2 + 12, len(run('regress', '--all', path).out.splitlines()))
        self.assertIn('11 more', run('regress', '--all', '-n', '1', path).out)

    def test_a_parabola_must_be_worth_it(self):
        """A line with noise: a parabola always has the greater r_square, and yet it is a line."""
        noise = [0.3, -0.2, 0.1, 0.25, -0.3, -0.1, 0.2, -0.25, 0.15, -0.15]
        path = self.small(points=[(i + 1, 5 + 3 * i + e) for i, e in enumerate(noise)])
        models = self.models(path)
        self.assertGreater(models['f', 'quadratic']['r_square'], models['f', 'linear']['r_square'])
        self.assertIn('linear', run('regress', path).out)
        self.assertEqual('quadratic', self.ask('--strategy', 'best-param', path)['models'][0]['model'])

    def test_narrow_terminals(self):
        for columns in (40, 60, 100):
            shown = run_on_terminal('regress', '--color', 'never', SORT, columns=columns)
            self.assertEqual(0, shown.status)
            self.assertLessEqual(max(len(line) for line in shown.out.splitlines()[1:]), columns)

    def test_a_plot(self):
        shown = run('regress', SORT, '--plot', 'quick', '--models', 'linear,power').out
        self.assertTrue(shown.startswith('quick_sort\n'))
        self.assertIn('amount over structure-unit-size', shown)
        self.assertIn('─ linear   ─ power', shown)
        self.assertIn('f(x) = 0.0595', shown)
        shown = run('regress', SORT, '--plot', 'quick_sort', '--ascii', '--log', 'none', '--height', '20').out
        self.assertTrue(shown.isascii())
        self.assertLessEqual(abs(len(shown.splitlines()) - 20), 3)
        self.assertFails(run('regress', SORT, '--plot', 'r'), 2, 'several uids')

    def test_curves_are_told_apart(self):
        self.assertFine(run('regress', SORT, '--plot', 'quick_sort', '--all', '-o', self.path('q.svg')))
        curves = re.findall(r'class="curve"[^>]* stroke="(#[0-9a-f]{6})"', self.read('q.svg').decode())
        self.assertEqual((6, 6), (len(curves), len(set(curves))))
        shown = run('regress', SORT, '--plot', 'quick', '--models', 'linear,power', '--ascii').out
        self.assertIn('* linear   + power   o resources', shown)
        self.assertTrue('*' in shown.split('linear')[0] and '++' in shown)

    def test_an_svg(self):
        for args in ((), ('--regressogram',), ('--moving-average', 'sma', '--window', '5'), ('--kernel', 'smoothing'), ('--method', 'bisection')):
            with self.subTest(args):
                self.assertFine(run('regress', SORT, '--plot', 'quick_sort', *args, '-o', self.path('q.svg')))
                svg = self.read('q.svg').decode()
                self.assertTrue(svg.startswith('<svg') or svg.startswith('<?xml'))
                self.assertIn('quick_sort', svg)

    def test_many_points_make_no_large_picture(self):
        rows = [(i, 3 * i + i % 7) for i in range(20000)]
        self.assertFine(run('regress', self.small(points=rows), '--plot', 'f', '-o', self.path('f.svg')))
        self.assertLess(len(self.read('f.svg')), 1000000)

    def test_answers_in_files(self):
        path = self.small()
        self.assertFine(run('regress', path, '-o', self.path('a.json')))
        self.assertEqual(self.ask(path), json.loads(self.read('a.json')))
        self.assertFine(run('regress', path, '-o', self.path('a.md')))
        self.assertIn(b'| f | linear |', b' '.join(self.read('a.md').split()))


class Saving(Regress):
    def test_the_models_are_added(self):
        old = {'uid': 'f', 'model': 'linear', 'r_square': 0.5, 'x_start': 0, 'x_end': 1, 'coeffs': [{'name': 'b0', 'value': 1}, {'name': 'b1', 'value': 2}]}
        path = self.write('f.perf', profile(resources('f', LINE), models=[old], postprocessors=[{'name': 'normalizer', 'params': {}}]))
        self.assertFine(run('regress', '--method', 'full', path, '-o', self.path('g.perf')))
        written = json.loads(self.read('g.perf'))
        self.assertEqual(old, written['models'][0])
        self.assertEqual(self.ask(path)['models'], written['models'][1:])
        self.assertEqual(['normalizer', 'regression_analysis'], [p['name'] for p in written['postprocessors']])
        self.assertEqual('full', written['postprocessors'][1]['params']['method'])
        self.assertEqual(json.loads(self.read('f.perf'))['resources'], written['resources'])

    def test_stored_models(self):
        self.assertFine(run('regress', '--models', 'linear,quadratic', self.small(), '-o', self.path('g.perf')))
        stored = self.ask('--stored', self.path('g.perf'))
        self.assertEqual(self.ask('--models', 'linear,quadratic', self.path('f.perf')), stored)
        self.assertIn('2 stored models', run('regress', '--stored', self.path('g.perf')).out)
        best = self.ask('--stored', '--strategy', 'best-nonparam', self.path('g.perf'))
        self.assertEqual([], best['models'])

    def test_old_keys(self):
        old = {'uid': 'f', 'model': 'quadratic', 'r_square': 0.5, 'x_interval_start': 0, 'x_interval_end': 4, 'coeffs': [{'name': 'b0', 'value': 1}, {'name': 'b1', 'value': 2}]}
        model, = self.ask('--stored', '--plot-points', '3', self.write('f.perf', profile([], models=[old])))['models']
        self.assertEqual((0, 4), (model['x_start'], model['x_end']))
        self.assertEqual([9, 33], model['plot_y'][1:])  # 1 + 2 x^2

    def test_not_numbers_stay(self):
        path = self.small(points=LINE + [(5, 11)])
        self.assertFine(run('regress', '--moving-average', 'sma', '--window', '3', path, '-o', self.path('g.perf')))
        self.assertIn(b'NaN', self.read('g.perf'))
        model, = self.ask('--stored', self.path('g.perf'))['models']
        self.assertEqual(['nan', 5, 7, 9, 'nan'], model['bucket_stats'])
        self.assertEqual([model['bucket_stats']], [m['bucket_stats'] for m in self.ask('--moving-average', 'sma', '--window', '3', path)['models']])

    def test_clusters_and_normal_amounts(self):
        path = self.write('f.perf', profile(resources('f', [(1, 8), (2, 4), (3, 16)])))
        self.assertFine(run('regress', '--clusterize', 'sort_order', path, '-o', self.path('c.perf')))
        rows = run('sql', '--json', self.path('c.perf'), 'select amount, cluster from record order by id').json
        self.assertEqual([(8, 2), (4, 1), (16, 3)], [(r['amount'], r['cluster']) for r in rows])
        self.assertFine(run('regress', '--normalize', path, '-o', self.path('n.perf')))
        written = json.loads(self.read('n.perf'))
        self.assertEqual([0.5, 0.25, 1], [r['amount'] for r in written['resources']])
        self.assertEqual('normalizer', written['postprocessors'][-1]['name'])

    def test_clusters_and_normal_amounts_answer_programs(self):
        path = self.write('f.perf', profile(resources('f', [(1, 8), (2, 4), (3, 16)]) + [{'uid': 'f', 'type': 'mixed', 'amount': 'much'}]))
        for how, name in ((('--clusterize', 'sort_order'), 'clusterizer'), (('--normalize',), 'normalizer')):
            self.assertEqual({'models': [], 'skipped': [], 'postprocessor': name, 'records': 4, 'changed': 3}, self.ask(*how, path, '-o', self.path('o.perf')))
            self.assertEqual(1, len(run('regress', '--csv', *how, path, '-o', self.path('o.perf')).out.splitlines()))
            self.assertEqual('', run('regress', *how, path, '-o', self.path('o.perf')).out)
        self.assertNotIn('postprocessor', self.ask(path))

    def test_true_is_not_1(self):
        """As the regions of a profile have it, and as its models are stored."""
        path = self.write('f.perf', profile(resources(True, LINE) + resources(1, [(1, 8), (2, 4), (3, 16)]) + resources('False', [(1, 1), (2, 2)]) + resources(False, [(3, 3), (4, 4)])))
        self.assertEqual({'True': [1, 2], '1': [round(4 / 3, 9), 4], 'False': [0, 1]},
                         {uid: [round(c['value'], 9) for c in m['coeffs']] for (uid, _), m in self.models('--models', 'linear', path).items()})
        self.assertEqual({'True', '1', 'False'}, {c['name'] for c in run('sql', '--json', path, 'select distinct name from region').json})
        checked = run('compare', '--json', '--check', 'aat', path, path).json['changes']
        self.assertEqual({'True', '1', 'False'}, {c['location'] for c in checked})
        self.assertFine(run('regress', '--clusterize', 'sort_order', path, '-o', self.path('c.perf')))
        rows = run('sql', '--json', self.path('c.perf'), 'select cluster from record order by id').json
        self.assertEqual([1, 2, 3, 4] + [2, 1, 3] + [1, 2, 3, 4], [r['cluster'] for r in rows])

    def test_other_formats_become_profiles(self):
        path = self.write('e.txt', 'PARAMETER p\nPOINTS 1 2 4 8\nREGION main->f\nMETRIC time\nDATA 3\nDATA 5\nDATA 9\nDATA 17\n')
        self.assertEqual(0, run('regress', path, '-o', self.path('e.perf')).status)
        self.assertEqual(6, len(json.loads(self.read('e.perf'))['models']))


if __name__ == '__main__':
    main()
